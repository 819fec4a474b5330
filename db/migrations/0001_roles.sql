-- Four roles (design.md): the owner is whoever runs this migration; it owns every table.
-- A cluster may hold several databases of Unsilent, so the roles may exist already.
DO $$
DECLARE role_name text;
BEGIN
  FOREACH role_name IN ARRAY ARRAY['unsilent_service', 'unsilent_staff', 'unsilent_retention'] LOOP
    BEGIN
      EXECUTE format('CREATE ROLE %I LOGIN', role_name);
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL; -- Another database or a migrator beside us made it.
    END;
  END LOOP;
END $$;
--> statement-breakpoint
REVOKE ALL ON SCHEMA public FROM PUBLIC;
--> statement-breakpoint
GRANT USAGE ON SCHEMA public TO unsilent_service, unsilent_staff, unsilent_retention;
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE ON
  businesses, accounts, leads, addresses, staff_commands, staff_tokens, webhook_receipts,
  delivery_jobs, transport_traces, conversations, messages, turn_markers, follow_up_plans,
  follow_up_steps, outbox, provider_messages, work_items, takeover_heads
TO unsilent_service;
--> statement-breakpoint
GRANT DELETE ON turn_markers, leads TO unsilent_service;
--> statement-breakpoint
-- Append-only tables: read and insert, nothing else.
GRANT SELECT, INSERT ON
  raw_deliveries, receipt_duplicates, conversation_transitions, send_decisions, send_attempts,
  send_outcomes, sent_markers, takeover_events
TO unsilent_service;
--> statement-breakpoint
-- Staff read their own business and write the facts of their commands, under row-level security.
GRANT SELECT ON
  businesses, leads, addresses, staff_commands, conversations, messages, turn_markers,
  follow_up_plans, follow_up_steps, outbox, work_items, conversation_transitions, send_decisions,
  send_attempts, send_outcomes, takeover_events, transport_traces
TO unsilent_staff;
--> statement-breakpoint
GRANT SELECT (id, business_id, provider, channel, external_id, paused_at, paused_reason, created_at)
ON accounts TO unsilent_staff;
--> statement-breakpoint
GRANT UPDATE ON conversations, addresses, outbox, follow_up_plans, work_items, messages
TO unsilent_staff;
--> statement-breakpoint
GRANT INSERT ON work_items, conversation_transitions, takeover_events, staff_commands, takeover_heads
TO unsilent_staff;
--> statement-breakpoint
GRANT SELECT, UPDATE ON takeover_heads TO unsilent_staff;
--> statement-breakpoint
GRANT DELETE ON turn_markers TO unsilent_staff;
--> statement-breakpoint
-- Retention empties raw bodies that are past their time; their digests stay (INV-1).
GRANT SELECT, UPDATE (body) ON raw_deliveries
TO unsilent_retention;
--> statement-breakpoint
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'table % is append-only', TG_TABLE_NAME USING ERRCODE = '42501';
END $$;
--> statement-breakpoint
-- The trigger fires for whoever holds the grant, and per statement, because TRUNCATE fires no row
-- trigger. raw_deliveries lets retention empty `body` and nothing else, by its grant above.
DO $$
DECLARE table_name text;
BEGIN
  FOREACH table_name IN ARRAY ARRAY['receipt_duplicates', 'conversation_transitions',
    'send_decisions', 'send_attempts', 'send_outcomes', 'sent_markers', 'takeover_events'] LOOP
    EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %I
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', table_name);
  END LOOP;
  EXECUTE 'CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON raw_deliveries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()';
END $$;
--> statement-breakpoint
-- Row-level security keeps businesses apart for the staff role. The service role sees all of them:
-- it works for every business, and a webhook may hold several.
DO $$
DECLARE table_name text; key_column text;
BEGIN
  FOREACH table_name IN ARRAY ARRAY['businesses', 'accounts', 'leads', 'addresses', 'staff_commands',
    'conversations', 'messages', 'follow_up_plans', 'outbox', 'work_items',
    'conversation_transitions', 'send_decisions', 'send_attempts', 'send_outcomes',
    'takeover_events', 'transport_traces'] LOOP
    key_column := CASE WHEN table_name = 'businesses' THEN 'id' ELSE 'business_id' END;
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', table_name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', table_name);
    EXECUTE format('CREATE POLICY whole_table ON %I TO unsilent_service USING (true) WITH CHECK (true)', table_name);
    EXECUTE format('CREATE POLICY owner_all ON %I TO CURRENT_USER USING (true) WITH CHECK (true)', table_name);
    EXECUTE format('CREATE POLICY own_business ON %I TO unsilent_staff
      USING (%I = current_setting(''unsilent.business_id'', true))
      WITH CHECK (%I = current_setting(''unsilent.business_id'', true))', table_name, key_column, key_column);
  END LOOP;
  FOREACH table_name IN ARRAY ARRAY['follow_up_steps', 'turn_markers', 'takeover_heads'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', table_name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', table_name);
    EXECUTE format('CREATE POLICY whole_table ON %I TO unsilent_service USING (true) WITH CHECK (true)', table_name);
    EXECUTE format('CREATE POLICY owner_all ON %I TO CURRENT_USER USING (true) WITH CHECK (true)', table_name);
    EXECUTE format('CREATE POLICY own_business ON %I TO unsilent_staff
      USING (EXISTS (SELECT FROM conversations c WHERE c.id = %I.conversation_id))
      WITH CHECK (EXISTS (SELECT FROM conversations c WHERE c.id = %I.conversation_id))',
      table_name, table_name, table_name);
  END LOOP;
END $$;
