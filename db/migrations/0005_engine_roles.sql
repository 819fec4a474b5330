GRANT SELECT, INSERT, UPDATE ON integrations, notes, notice_deliveries TO unsilent_service;
--> statement-breakpoint
-- Append-only tables: read and insert, nothing else.
GRANT SELECT, INSERT ON escalations, notices, notice_items TO unsilent_service;
--> statement-breakpoint
GRANT SELECT, INSERT ON notes, escalations TO unsilent_staff;
--> statement-breakpoint
GRANT SELECT ON notices, notice_items, notice_deliveries TO unsilent_staff;
--> statement-breakpoint
GRANT SELECT (id, business_id, kind, settings, paused_at, paused_reason, created_at)
ON integrations TO unsilent_staff;
--> statement-breakpoint
-- A person's commands queue sends, decide on them, and settle what became of them.
GRANT INSERT ON outbox, send_decisions, send_outcomes, messages TO unsilent_staff;
--> statement-breakpoint
DO $$
DECLARE table_name text;
BEGIN
  FOREACH table_name IN ARRAY ARRAY['escalations', 'notices', 'notice_items'] LOOP
    EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %I
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', table_name);
  END LOOP;
  FOREACH table_name IN ARRAY ARRAY['integrations', 'notes', 'escalations', 'notices',
    'notice_items'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', table_name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', table_name);
    EXECUTE format('CREATE POLICY whole_table ON %I TO unsilent_service USING (true) WITH CHECK (true)', table_name);
    EXECUTE format('CREATE POLICY owner_all ON %I TO CURRENT_USER USING (true) WITH CHECK (true)', table_name);
    EXECUTE format('CREATE POLICY own_business ON %I TO unsilent_staff
      USING (business_id = current_setting(''unsilent.business_id'', true))
      WITH CHECK (business_id = current_setting(''unsilent.business_id'', true))', table_name);
  END LOOP;
  ALTER TABLE notice_deliveries ENABLE ROW LEVEL SECURITY;
  ALTER TABLE notice_deliveries FORCE ROW LEVEL SECURITY;
  CREATE POLICY whole_table ON notice_deliveries TO unsilent_service USING (true) WITH CHECK (true);
  EXECUTE 'CREATE POLICY owner_all ON notice_deliveries TO CURRENT_USER USING (true) WITH CHECK (true)';
  CREATE POLICY own_business ON notice_deliveries TO unsilent_staff
    USING (EXISTS (SELECT FROM notices n WHERE n.id = notice_id))
    WITH CHECK (EXISTS (SELECT FROM notices n WHERE n.id = notice_id));
END $$;
