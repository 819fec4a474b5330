GRANT SELECT, INSERT, UPDATE ON job_attempts TO unsilent_service;
--> statement-breakpoint
-- Nothing was connected before: jobs of that time owe nobody a call.
UPDATE delivery_jobs SET state = 'succeeded', ended_at = created_at
WHERE state = 'queued' AND operation <> 'initial-response';
--> statement-breakpoint
-- Whoever mends refused credentials lets the account or integration go on (IN4); the credentials
-- and secrets themselves staff can neither read nor write.
GRANT UPDATE (paused_at, paused_reason) ON accounts, integrations TO unsilent_staff;
--> statement-breakpoint
ALTER TABLE job_attempts ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE job_attempts FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY whole_table ON job_attempts TO unsilent_service USING (true) WITH CHECK (true);
--> statement-breakpoint
DO $$
BEGIN
  EXECUTE 'CREATE POLICY owner_all ON job_attempts TO CURRENT_USER USING (true) WITH CHECK (true)';
END $$;
--> statement-breakpoint
CREATE POLICY own_business ON job_attempts TO unsilent_staff
USING (business_id = current_setting('unsilent.business_id', true))
WITH CHECK (business_id = current_setting('unsilent.business_id', true));
