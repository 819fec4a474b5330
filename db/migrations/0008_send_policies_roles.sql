-- Append-only: read and insert, nothing else. Staff read the version under which they act.
GRANT SELECT, INSERT ON send_policies TO unsilent_service;
--> statement-breakpoint
GRANT SELECT ON send_policies TO unsilent_staff;
--> statement-breakpoint
DO $$
BEGIN
  CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON send_policies
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
  ALTER TABLE send_policies ENABLE ROW LEVEL SECURITY;
  ALTER TABLE send_policies FORCE ROW LEVEL SECURITY;
  CREATE POLICY whole_table ON send_policies TO unsilent_service USING (true) WITH CHECK (true);
  EXECUTE 'CREATE POLICY owner_all ON send_policies TO CURRENT_USER USING (true) WITH CHECK (true)';
  CREATE POLICY own_business ON send_policies TO unsilent_staff
    USING (business_id = current_setting('unsilent.business_id', true))
    WITH CHECK (business_id = current_setting('unsilent.business_id', true));
END $$;
