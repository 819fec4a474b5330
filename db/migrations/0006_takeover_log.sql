-- The takeover log becomes partitioned by its session, a UUIDv7 (H2). A table cannot be partitioned
-- in place, so the old events are copied: each session gets a UUIDv7 and keeps its order.
ALTER TABLE "takeover_events" RENAME TO "takeover_events_before";
--> statement-breakpoint
ALTER TABLE "takeover_heads" RENAME TO "takeover_heads_before";
--> statement-breakpoint
ALTER TABLE "takeover_events_before" RENAME CONSTRAINT "takeover_events_session_id_seq_pk" TO "takeover_events_before_pk";
--> statement-breakpoint
ALTER INDEX "takeover_events_event" RENAME TO "takeover_events_before_event";
--> statement-breakpoint
ALTER INDEX "takeover_events_conversation" RENAME TO "takeover_events_before_conversation";
--> statement-breakpoint
ALTER TABLE "takeover_heads_before" RENAME CONSTRAINT "takeover_heads_pkey" TO "takeover_heads_before_pkey";
--> statement-breakpoint
CREATE TABLE "takeover_events" (
	"session_id" uuid NOT NULL,
	"seq" integer NOT NULL,
	"event_id" text NOT NULL,
	"business_id" text NOT NULL,
	"conversation_id" text NOT NULL,
	"type" text NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_ref" text NOT NULL,
	"reason" text NOT NULL,
	"policy_version" text NOT NULL,
	"correlation_id" text NOT NULL,
	"content_ref" text,
	"content_digest" text,
	"attributes" jsonb NOT NULL,
	"occurred_at" timestamp with time zone NOT NULL,
	"recorded_at" timestamp with time zone NOT NULL,
	CONSTRAINT "takeover_events_session_id_seq_pk" PRIMARY KEY("session_id","seq"),
	CONSTRAINT "takeover_events_seq" CHECK (seq > 0)
) PARTITION BY RANGE ("session_id");
--> statement-breakpoint
CREATE UNIQUE INDEX "takeover_events_event" ON "takeover_events" USING btree ("session_id","event_id");
--> statement-breakpoint
CREATE INDEX "takeover_events_conversation" ON "takeover_events" USING btree ("conversation_id");
--> statement-breakpoint
CREATE TABLE "takeover_heads" (
	"session_id" uuid PRIMARY KEY NOT NULL,
	"conversation_id" text NOT NULL,
	"last_seq" integer NOT NULL,
	"ended_at" timestamp with time zone
);
--> statement-breakpoint
CREATE UNIQUE INDEX "takeover_heads_one_open" ON "takeover_heads" USING btree ("conversation_id") WHERE ended_at is null;
--> statement-breakpoint
-- No row of the log is ever changed, in whichever partition it stands; the row trigger is inherited
-- by each of them, the statement trigger against TRUNCATE is set on each.
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON "takeover_events"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON "takeover_events"
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
-- What falls into no month's partition is kept all the same: an append is never refused for that.
CREATE TABLE "takeover_events_other" PARTITION OF "takeover_events" DEFAULT;
--> statement-breakpoint
CREATE TRIGGER append_only BEFORE TRUNCATE ON "takeover_events_other"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
-- The smallest UUIDv7 of an instant.
CREATE FUNCTION takeover_session_bound(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT (substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-0000-0000-000000000000')::uuid
  FROM lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') AS h
$$;
--> statement-breakpoint
-- Makes the partitions of last month and of `months_ahead` months from now, where they are missing.
-- It runs as the owner, so that no role of the product may create tables.
CREATE FUNCTION prepare_takeover_partitions(months_ahead integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET timezone = 'UTC' AS $$
DECLARE month timestamptz; name text; made integer := 0;
BEGIN
  FOR ahead IN -1..months_ahead LOOP
    month := date_trunc('month', clock_timestamp()) + make_interval(months => ahead);
    name := 'takeover_events_' || to_char(month, 'YYYY_MM');
    CONTINUE WHEN to_regclass(name) IS NOT NULL;
    -- A month whose sessions stand in the default partition already stays there.
    CONTINUE WHEN EXISTS (SELECT FROM takeover_events_other
      WHERE session_id >= takeover_session_bound(month)
        AND session_id < takeover_session_bound(month + interval '1 month'));
    EXECUTE format('CREATE TABLE %I PARTITION OF takeover_events FOR VALUES FROM (%L) TO (%L)',
      name, takeover_session_bound(month), takeover_session_bound(month + interval '1 month'));
    EXECUTE format('CREATE TRIGGER append_only BEFORE TRUNCATE ON %I
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', name);
    made := made + 1;
  END LOOP;
  RETURN made;
END $$;
--> statement-breakpoint
-- Drops the months whose sessions have all ended before `ended_before`; a month with one that has
-- not stays whole (H2). Returns the names of what was dropped.
CREATE FUNCTION drop_takeover_partitions(ended_before timestamptz) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET timezone = 'UTC' AS $$
DECLARE name text; kept boolean;
BEGIN
  IF ended_before > clock_timestamp() - interval '1 month' THEN
    RAISE EXCEPTION 'the takeover log is kept for a month at least';
  END IF;
  FOR name IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'takeover_events'::regclass AND c.relname ~ '^takeover_events_\d{4}_\d\d$'
      AND to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month' <= ended_before
    ORDER BY c.relname
  LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM %I e LEFT JOIN takeover_heads h USING (session_id)
      WHERE h.ended_at IS NULL OR h.ended_at >= $1)', name) INTO kept USING ended_before;
    CONTINUE WHEN kept;
    EXECUTE format('DELETE FROM takeover_heads h USING %I e WHERE e.session_id = h.session_id', name);
    EXECUTE format('DROP TABLE %I', name);
    RETURN NEXT name;
  END LOOP;
END $$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION prepare_takeover_partitions(integer), drop_takeover_partitions(timestamptz) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION prepare_takeover_partitions(integer), drop_takeover_partitions(timestamptz) TO unsilent_retention;
--> statement-breakpoint
SELECT prepare_takeover_partitions(3);
--> statement-breakpoint
CREATE TEMPORARY TABLE "takeover_sessions" ON COMMIT DROP AS
SELECT session_id AS before, uuidv7() AS session_id FROM "takeover_heads_before" ORDER BY session_id;
--> statement-breakpoint
INSERT INTO "takeover_events" (session_id, seq, event_id, business_id, conversation_id, type,
  actor_kind, actor_ref, reason, policy_version, correlation_id, attributes, occurred_at, recorded_at)
SELECT s.session_id, e.seq, e.event_id, e.business_id, e.conversation_id, e.type, e.actor_kind,
  e.actor_ref, e.reason, e.policy_version, e.correlation_id, e.attributes, e.occurred_at, e.recorded_at
FROM "takeover_events_before" e JOIN "takeover_sessions" s ON s.before = e.session_id;
--> statement-breakpoint
-- Only the newest session of a conversation is still open.
INSERT INTO "takeover_heads" (session_id, conversation_id, last_seq, ended_at)
SELECT s.session_id, h.conversation_id, h.last_seq,
  CASE WHEN lead(1) OVER (PARTITION BY h.conversation_id ORDER BY h.session_id) IS NULL THEN NULL
    ELSE (SELECT max(e.occurred_at) FROM "takeover_events_before" e WHERE e.session_id = h.session_id) END
FROM "takeover_heads_before" h JOIN "takeover_sessions" s ON s.before = h.session_id;
--> statement-breakpoint
DROP TABLE "takeover_events_before";
--> statement-breakpoint
DROP TABLE "takeover_heads_before";
--> statement-breakpoint
GRANT SELECT, INSERT ON "takeover_events" TO unsilent_service, unsilent_staff;
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE ON "takeover_heads" TO unsilent_service, unsilent_staff;
--> statement-breakpoint
DO $$
DECLARE table_name text;
BEGIN
  FOREACH table_name IN ARRAY ARRAY['takeover_events', 'takeover_heads', 'takeover_events_other'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', table_name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', table_name);
    EXECUTE format('CREATE POLICY owner_all ON %I TO CURRENT_USER USING (true) WITH CHECK (true)', table_name);
  END LOOP;
  CREATE POLICY whole_table ON takeover_events TO unsilent_service USING (true) WITH CHECK (true);
  CREATE POLICY own_business ON takeover_events TO unsilent_staff
    USING (business_id = current_setting('unsilent.business_id', true))
    WITH CHECK (business_id = current_setting('unsilent.business_id', true));
  CREATE POLICY whole_table ON takeover_heads TO unsilent_service USING (true) WITH CHECK (true);
  CREATE POLICY own_business ON takeover_heads TO unsilent_staff
    USING (EXISTS (SELECT FROM conversations c WHERE c.id = takeover_heads.conversation_id))
    WITH CHECK (EXISTS (SELECT FROM conversations c WHERE c.id = takeover_heads.conversation_id));
END $$;
