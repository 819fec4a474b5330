-- The audit replaces what it said before, so its two tables are no record; the log is.
GRANT SELECT, INSERT, UPDATE, DELETE ON audit_results, audit_findings TO unsilent_service;
--> statement-breakpoint
-- Append-only: read and insert, nothing else.
GRANT SELECT, INSERT ON figure_rollups TO unsilent_service;
--> statement-breakpoint
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON figure_rollups
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
GRANT SELECT ON audit_results, audit_findings TO unsilent_staff;
--> statement-breakpoint
DO $$
DECLARE table_name text;
BEGIN
  FOREACH table_name IN ARRAY ARRAY['audit_results', 'audit_findings'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', table_name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', table_name);
    EXECUTE format('CREATE POLICY whole_table ON %I TO unsilent_service USING (true) WITH CHECK (true)', table_name);
    EXECUTE format('CREATE POLICY owner_all ON %I TO CURRENT_USER USING (true) WITH CHECK (true)', table_name);
  END LOOP;
  -- How many rows break a check is no secret of a business; which rows, is.
  CREATE POLICY counts_of_all ON audit_results TO unsilent_staff USING (true);
  CREATE POLICY own_business ON audit_findings TO unsilent_staff
    USING (business_id = current_setting('unsilent.business_id', true));
END $$;
--> statement-breakpoint
-- The counters of /metrics read the newest rows by their time. These indexes cost almost nothing to
-- write, because such tables grow in the order of time.
CREATE INDEX send_attempts_by_time ON send_attempts USING brin (started_at);
--> statement-breakpoint
CREATE INDEX send_outcomes_by_time ON send_outcomes USING brin (recorded_at);
--> statement-breakpoint
CREATE INDEX outbox_by_end ON outbox USING brin (ended_at);
--> statement-breakpoint
CREATE INDEX transport_traces_by_time ON transport_traces USING brin (ingress_accepted_at);
--> statement-breakpoint
CREATE INDEX webhook_receipts_by_time ON webhook_receipts USING brin (received_at);
--> statement-breakpoint
CREATE INDEX receipt_duplicates_by_time ON receipt_duplicates USING brin (received_at);
