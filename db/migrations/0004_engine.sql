CREATE TABLE "integrations" (
	"id" text PRIMARY KEY NOT NULL,
	"business_id" text,
	"kind" text NOT NULL,
	"settings" jsonb NOT NULL,
	"secret" text,
	"paused_at" timestamp with time zone,
	"paused_reason" text,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "integrations_kind" CHECK (kind in ('crm-webhook', 'audit-webhook', 'audit-file', 'notice-email', 'notice-webhook'))
);
--> statement-breakpoint
CREATE TABLE "escalations" (
	"work_item_id" text NOT NULL,
	"level" integer NOT NULL,
	"business_id" text,
	"queue" text NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"notify_at" timestamp with time zone NOT NULL,
	CONSTRAINT "escalations_work_item_id_level_pk" PRIMARY KEY("work_item_id","level")
);
--> statement-breakpoint
CREATE TABLE "notes" (
	"id" text PRIMARY KEY NOT NULL,
	"business_id" text NOT NULL,
	"conversation_id" text NOT NULL,
	"role" text NOT NULL,
	"text" text NOT NULL,
	"at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "notice_deliveries" (
	"notice_id" text NOT NULL,
	"integration_id" text NOT NULL,
	"state" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp with time zone NOT NULL,
	"lease_until" timestamp with time zone,
	"last_error_code" text,
	"ended_at" timestamp with time zone,
	CONSTRAINT "notice_deliveries_notice_id_integration_id_pk" PRIMARY KEY("notice_id","integration_id"),
	CONSTRAINT "notice_deliveries_state" CHECK (state in ('queued', 'sending', 'sent', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "notice_items" (
	"work_item_id" text NOT NULL,
	"level" integer NOT NULL,
	"notice_id" text NOT NULL,
	"business_id" text,
	CONSTRAINT "notice_items_work_item_id_level_pk" PRIMARY KEY("work_item_id","level")
);
--> statement-breakpoint
CREATE TABLE "notices" (
	"id" text PRIMARY KEY NOT NULL,
	"business_id" text,
	"queue" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "work_items" DROP CONSTRAINT "work_items_kind";--> statement-breakpoint
UPDATE "work_items" SET "escalate_at" = "opened_at" WHERE "escalate_at" IS NULL;--> statement-breakpoint
ALTER TABLE "work_items" ALTER COLUMN "escalate_at" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "conversations" ADD COLUMN "replays" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "conversations" ADD COLUMN "replays_for" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "conversations" ADD COLUMN "replay_attempt" integer;--> statement-breakpoint
ALTER TABLE "delivery_jobs" ADD COLUMN "business_id" text;--> statement-breakpoint
ALTER TABLE "delivery_jobs" ADD COLUMN "conversation_id" text;--> statement-breakpoint
UPDATE "delivery_jobs" j SET "business_id" = m.business_id, "conversation_id" = m.conversation_id FROM "messages" m WHERE m.receipt_id = j.receipt_id;--> statement-breakpoint
ALTER TABLE "delivery_jobs" ALTER COLUMN "business_id" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "delivery_jobs" ALTER COLUMN "conversation_id" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "delivery_jobs" ADD COLUMN "ended_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "work_items" ADD COLUMN "next_escalation_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "work_items" ADD COLUMN "level" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "work_items" ADD COLUMN "automation_paused_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "work_items" ADD COLUMN "claimed_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "work_items" ADD COLUMN "claimed_by" text;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "awaiting_approval" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "policy_version" text;--> statement-breakpoint
UPDATE "outbox" o SET "policy_version" = d.policy_version FROM "send_decisions" d WHERE d.id = o.decision_id;--> statement-breakpoint
ALTER TABLE "outbox" ALTER COLUMN "policy_version" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "fallback_for" text;--> statement-breakpoint
ALTER TABLE "integrations" ADD CONSTRAINT "integrations_business_id_businesses_id_fk" FOREIGN KEY ("business_id") REFERENCES "public"."businesses"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "integrations_business" ON "integrations" USING btree ("business_id");--> statement-breakpoint
CREATE INDEX "notes_conversation" ON "notes" USING btree ("conversation_id","at");--> statement-breakpoint
CREATE INDEX "notice_deliveries_open" ON "notice_deliveries" USING btree ("next_attempt_at") WHERE state in ('queued', 'sending');--> statement-breakpoint
CREATE INDEX "notice_items_notice" ON "notice_items" USING btree ("notice_id");--> statement-breakpoint
CREATE INDEX "notices_created_at" ON "notices" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "delivery_jobs_open" ON "delivery_jobs" USING btree ("next_attempt_at") WHERE state in ('queued', 'running') and operation <> 'initial-response';--> statement-breakpoint
CREATE INDEX "work_items_next_escalation" ON "work_items" USING btree ("next_escalation_at") WHERE next_escalation_at is not null;--> statement-breakpoint
CREATE INDEX "outbox_waiting" ON "outbox" USING btree ("not_before") WHERE state in ('queued', 'leased', 'sending');--> statement-breakpoint
ALTER TABLE "delivery_jobs" ADD CONSTRAINT "delivery_jobs_state" CHECK (state in ('queued', 'running', 'succeeded', 'review'));--> statement-breakpoint
ALTER TABLE "work_items" ADD CONSTRAINT "work_items_kind" CHECK (kind in ('handoff', 'approval', 'delivery-unknown', 'delivery-failed', 'not-sent', 'follow-up-by-hand', 'job-review', 'quarantine', 'credentials', 'content-conflict'));