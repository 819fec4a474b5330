CREATE TABLE "accounts" (
	"id" text PRIMARY KEY NOT NULL,
	"business_id" text NOT NULL,
	"provider" text NOT NULL,
	"channel" text NOT NULL,
	"external_id" text NOT NULL,
	"credentials" jsonb NOT NULL,
	"paused_at" timestamp with time zone,
	"paused_reason" text,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "accounts_channel_external_id" UNIQUE("channel","external_id")
);
--> statement-breakpoint
CREATE TABLE "addresses" (
	"id" text PRIMARY KEY NOT NULL,
	"business_id" text NOT NULL,
	"lead_id" text NOT NULL,
	"kind" text NOT NULL,
	"value" text NOT NULL,
	"opted_out_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "addresses_identity" UNIQUE("business_id","kind","value")
);
--> statement-breakpoint
CREATE TABLE "businesses" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"time_zone" text NOT NULL,
	"services" jsonb NOT NULL,
	"policy_version" text NOT NULL,
	"automation_enabled" boolean DEFAULT true NOT NULL,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "leads" (
	"id" text PRIMARY KEY NOT NULL,
	"business_id" text NOT NULL,
	"display_name" text,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "staff_commands" (
	"business_id" text NOT NULL,
	"idempotency_key" text NOT NULL,
	"request_digest" text NOT NULL,
	"response" jsonb NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "staff_commands_key" UNIQUE("business_id","idempotency_key")
);
--> statement-breakpoint
CREATE TABLE "staff_tokens" (
	"token_sha256" text PRIMARY KEY NOT NULL,
	"business_id" text NOT NULL,
	"role" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "conversation_transitions" (
	"conversation_id" text NOT NULL,
	"ordinal" bigint GENERATED ALWAYS AS IDENTITY (sequence name "conversation_transitions_ordinal_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"business_id" text NOT NULL,
	"version" integer NOT NULL,
	"from_state" text NOT NULL,
	"to_state" text NOT NULL,
	"cause" text NOT NULL,
	"cause_ref" text,
	"changed" boolean NOT NULL,
	"at" timestamp with time zone NOT NULL,
	CONSTRAINT "conversation_transitions_conversation_id_ordinal_pk" PRIMARY KEY("conversation_id","ordinal")
);
--> statement-breakpoint
CREATE TABLE "conversations" (
	"id" text PRIMARY KEY NOT NULL,
	"business_id" text NOT NULL,
	"account_id" text NOT NULL,
	"lead_id" text NOT NULL,
	"address_id" text NOT NULL,
	"channel" text NOT NULL,
	"state" text NOT NULL,
	"version" integer NOT NULL,
	"remembered_state" text,
	"episode" integer NOT NULL,
	"owner" text NOT NULL,
	"automation_paused_at" timestamp with time zone,
	"last_seq" bigint NOT NULL,
	"last_inbound_seq" bigint NOT NULL,
	"last_inbound_at" timestamp with time zone,
	"last_inbound_received_at" timestamp with time zone,
	"owed_since" timestamp with time zone,
	"last_token" timestamp with time zone,
	"oldest_owed_at" timestamp with time zone,
	"overdue_from" timestamp with time zone,
	"turn_due_at" timestamp with time zone,
	"draft_withdrawals" integer DEFAULT 0 NOT NULL,
	"contact_started_at" timestamp with time zone,
	"opt_out_confirmed_at" timestamp with time zone,
	"understanding" jsonb,
	"next_due_at" timestamp with time zone,
	"relay_count" integer DEFAULT 0 NOT NULL,
	"relay_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	"touched_at" timestamp with time zone NOT NULL,
	CONSTRAINT "conversations_home" UNIQUE("account_id","lead_id"),
	CONSTRAINT "conversations_state" CHECK (state in ('active', 'replied', 'booked', 'opted_out', 'paused', 'closed')),
	CONSTRAINT "conversations_owner" CHECK (owner in ('automation', 'person')),
	CONSTRAINT "conversations_debt_whole" CHECK ((owed_since is null) = (oldest_owed_at is null)),
	CONSTRAINT "conversations_token" CHECK (owed_since is null or owed_since <= last_token)
);
--> statement-breakpoint
CREATE TABLE "follow_up_plans" (
	"id" text PRIMARY KEY NOT NULL,
	"business_id" text NOT NULL,
	"conversation_id" text NOT NULL,
	"episode" integer NOT NULL,
	"anchor_at" timestamp with time zone NOT NULL,
	"stopped_at" timestamp with time zone,
	"stop_reason" text,
	CONSTRAINT "follow_up_plans_episode" UNIQUE("conversation_id","episode")
);
--> statement-breakpoint
CREATE TABLE "follow_up_steps" (
	"plan_id" text NOT NULL,
	"conversation_id" text NOT NULL,
	"step" integer NOT NULL,
	"day" integer NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"written_at" timestamp with time zone,
	CONSTRAINT "follow_up_steps_plan_id_step_pk" PRIMARY KEY("plan_id","step")
);
--> statement-breakpoint
CREATE TABLE "messages" (
	"id" text PRIMARY KEY NOT NULL,
	"business_id" text NOT NULL,
	"conversation_id" text NOT NULL,
	"account_id" text NOT NULL,
	"seq" bigint NOT NULL,
	"receipt_id" text,
	"direction" text NOT NULL,
	"author" text NOT NULL,
	"provider_message_id" text,
	"provider_message_sha256" text,
	"text" text,
	"media" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"unsupported" boolean DEFAULT false NOT NULL,
	"opt_out" text,
	"send_id" text,
	"source_at" timestamp with time zone,
	"received_at" timestamp with time zone NOT NULL,
	"owes" boolean DEFAULT false NOT NULL,
	"settlement" text,
	"settlement_ref" text,
	"settlement_reason" text,
	"settled_at" timestamp with time zone,
	"edited_at" timestamp with time zone,
	"deleted_at" timestamp with time zone,
	CONSTRAINT "messages_order" UNIQUE("conversation_id","seq"),
	CONSTRAINT "messages_settlement" CHECK (settlement is null or settlement in ('reply', 'person', 'no-answer', 'work-item')),
	CONSTRAINT "messages_settled_whole" CHECK ((settlement is null) = (settled_at is null))
);
--> statement-breakpoint
CREATE TABLE "turn_markers" (
	"conversation_id" text PRIMARY KEY NOT NULL,
	"token" timestamp with time zone NOT NULL,
	"attempt" integer NOT NULL,
	"started_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "delivery_jobs" (
	"id" text PRIMARY KEY NOT NULL,
	"receipt_id" text NOT NULL,
	"job_key" text NOT NULL,
	"operation" text NOT NULL,
	"state" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp with time zone NOT NULL,
	"last_error_code" text,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "delivery_jobs_job_key_unique" UNIQUE("job_key")
);
--> statement-breakpoint
CREATE TABLE "raw_deliveries" (
	"id" text PRIMARY KEY NOT NULL,
	"provider" text NOT NULL,
	"target" text NOT NULL,
	"content_type" text,
	"body" "bytea",
	"body_sha256" text NOT NULL,
	"body_bytes" integer NOT NULL,
	"element_count" integer NOT NULL,
	"received_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "receipt_duplicates" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "receipt_duplicates_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"receipt_id" text NOT NULL,
	"raw_id" text NOT NULL,
	"element_path" text NOT NULL,
	"content_sha256" text NOT NULL,
	"differs" boolean NOT NULL,
	"received_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "transport_traces" (
	"receipt_id" text PRIMARY KEY NOT NULL,
	"business_id" text NOT NULL,
	"conversation_id" text NOT NULL,
	"message_id" text NOT NULL,
	"channel" text NOT NULL,
	"source_event_at" timestamp with time zone,
	"source_precision" text NOT NULL,
	"ingress_accepted_at" timestamp with time zone NOT NULL,
	"normalized_at" timestamp with time zone NOT NULL,
	"normalize_ms" integer NOT NULL,
	"job_claimed_at" timestamp with time zone,
	"decision_ready_at" timestamp with time zone,
	"decision_ms" integer,
	"send_started_at" timestamp with time zone,
	"send_ms" integer,
	"provider_acknowledged_at" timestamp with time zone,
	"visible_at" timestamp with time zone,
	"send_attempts" integer DEFAULT 0 NOT NULL,
	"outcome" text,
	"send_id" text
);
--> statement-breakpoint
CREATE TABLE "webhook_receipts" (
	"id" text PRIMARY KEY NOT NULL,
	"raw_id" text NOT NULL,
	"provider" text NOT NULL,
	"account_external_id" text NOT NULL,
	"key_sha256" text NOT NULL,
	"content_sha256" text NOT NULL,
	"element_path" text NOT NULL,
	"kind" text NOT NULL,
	"business_id" text,
	"quarantine_reason" text,
	"received_at" timestamp with time zone NOT NULL,
	CONSTRAINT "webhook_receipts_key" UNIQUE("provider","account_external_id","key_sha256")
);
--> statement-breakpoint
CREATE TABLE "takeover_events" (
	"session_id" text NOT NULL,
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
	"attributes" jsonb NOT NULL,
	"occurred_at" timestamp with time zone NOT NULL,
	"recorded_at" timestamp with time zone NOT NULL,
	CONSTRAINT "takeover_events_session_id_seq_pk" PRIMARY KEY("session_id","seq")
);
--> statement-breakpoint
CREATE TABLE "takeover_heads" (
	"session_id" text PRIMARY KEY NOT NULL,
	"conversation_id" text NOT NULL,
	"last_seq" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "work_items" (
	"id" text PRIMARY KEY NOT NULL,
	"business_id" text,
	"conversation_id" text,
	"kind" text NOT NULL,
	"reason" text NOT NULL,
	"explanation" text NOT NULL,
	"send_id" text,
	"raw_id" text,
	"opened_at" timestamp with time zone NOT NULL,
	"escalate_at" timestamp with time zone,
	"assigned_queue" text NOT NULL,
	"newest_seq" bigint,
	"resolved_at" timestamp with time zone,
	"resolved_by" text,
	"resolution" text,
	CONSTRAINT "work_items_kind" CHECK (kind in ('handoff', 'delivery-unknown', 'delivery-failed', 'follow-up-by-hand', 'quarantine', 'credentials', 'content-conflict'))
);
--> statement-breakpoint
CREATE TABLE "outbox" (
	"id" text PRIMARY KEY NOT NULL,
	"business_id" text NOT NULL,
	"conversation_id" text NOT NULL,
	"account_id" text NOT NULL,
	"address_id" text NOT NULL,
	"channel" text NOT NULL,
	"purpose" text NOT NULL,
	"source_event" text NOT NULL,
	"idempotency_key" text NOT NULL,
	"episode" integer NOT NULL,
	"state" text NOT NULL,
	"body" text NOT NULL,
	"verdict" text,
	"covers_seq" bigint NOT NULL,
	"token" timestamp with time zone,
	"decision_id" text NOT NULL,
	"not_before" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone,
	"cancel_on_inbound" boolean NOT NULL,
	"stands" boolean DEFAULT false NOT NULL,
	"lease_owner" text,
	"lease_until" timestamp with time zone,
	"attempt_id" text,
	"attempted_at" timestamp with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"stop_requested_at" timestamp with time zone,
	"stop_cause" text,
	"stop_verdict" text,
	"end_reason" text,
	"provider_message_id" text,
	"turn_started_at" timestamp with time zone,
	"decision_ms" integer,
	"created_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	CONSTRAINT "outbox_idempotency_key_unique" UNIQUE("idempotency_key"),
	CONSTRAINT "outbox_state" CHECK (state in ('queued', 'leased', 'sending', 'accepted', 'delivered', 'cancelled', 'failed', 'delivery_unknown')),
	CONSTRAINT "outbox_sending_has_attempt" CHECK (state not in ('sending', 'accepted', 'delivered', 'delivery_unknown') or attempt_id is not null)
);
--> statement-breakpoint
CREATE TABLE "provider_messages" (
	"account_id" text NOT NULL,
	"provider_message_sha256" text NOT NULL,
	"provider_message_id" text NOT NULL,
	"business_id" text NOT NULL,
	"send_id" text,
	"attempt_id" text,
	"status" text,
	"error_code" text,
	"echoed_at" timestamp with time zone,
	"status_at" timestamp with time zone,
	"first_seen_at" timestamp with time zone NOT NULL,
	CONSTRAINT "provider_messages_account_id_provider_message_sha256_pk" PRIMARY KEY("account_id","provider_message_sha256")
);
--> statement-breakpoint
CREATE TABLE "send_attempts" (
	"id" text PRIMARY KEY NOT NULL,
	"business_id" text NOT NULL,
	"send_id" text NOT NULL,
	"conversation_id" text NOT NULL,
	"address_id" text NOT NULL,
	"purpose" text NOT NULL,
	"number" integer NOT NULL,
	"decision_id" text NOT NULL,
	"not_before" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone,
	"conversation_version" integer NOT NULL,
	"saw_seq" bigint NOT NULL,
	"started_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "send_decisions" (
	"id" text PRIMARY KEY NOT NULL,
	"business_id" text NOT NULL,
	"send_id" text NOT NULL,
	"supersedes_id" text,
	"not_before" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone,
	"reason" text NOT NULL,
	"rule" text,
	"policy_version" text NOT NULL,
	"evaluated_at" timestamp with time zone NOT NULL,
	"inputs" jsonb NOT NULL,
	"cancel_on_inbound" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "send_outcomes" (
	"attempt_id" text NOT NULL,
	"ordinal" bigint GENERATED ALWAYS AS IDENTITY (sequence name "send_outcomes_ordinal_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"business_id" text NOT NULL,
	"send_id" text NOT NULL,
	"outcome" text NOT NULL,
	"code" text,
	"evidence" text NOT NULL,
	"provider_message_id" text,
	"accepted_at" timestamp with time zone,
	"recorded_at" timestamp with time zone NOT NULL,
	CONSTRAINT "send_outcomes_attempt_id_ordinal_pk" PRIMARY KEY("attempt_id","ordinal")
);
--> statement-breakpoint
CREATE TABLE "sent_markers" (
	"attempt_id" text PRIMARY KEY NOT NULL,
	"provider_message_id" text,
	"accepted_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_business_id_businesses_id_fk" FOREIGN KEY ("business_id") REFERENCES "public"."businesses"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "addresses" ADD CONSTRAINT "addresses_business_id_businesses_id_fk" FOREIGN KEY ("business_id") REFERENCES "public"."businesses"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "addresses" ADD CONSTRAINT "addresses_lead_id_leads_id_fk" FOREIGN KEY ("lead_id") REFERENCES "public"."leads"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "leads" ADD CONSTRAINT "leads_business_id_businesses_id_fk" FOREIGN KEY ("business_id") REFERENCES "public"."businesses"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "staff_tokens" ADD CONSTRAINT "staff_tokens_business_id_businesses_id_fk" FOREIGN KEY ("business_id") REFERENCES "public"."businesses"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "conversations" ADD CONSTRAINT "conversations_business_id_businesses_id_fk" FOREIGN KEY ("business_id") REFERENCES "public"."businesses"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "conversations" ADD CONSTRAINT "conversations_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "conversations" ADD CONSTRAINT "conversations_lead_id_leads_id_fk" FOREIGN KEY ("lead_id") REFERENCES "public"."leads"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "conversations" ADD CONSTRAINT "conversations_address_id_addresses_id_fk" FOREIGN KEY ("address_id") REFERENCES "public"."addresses"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "messages" ADD CONSTRAINT "messages_conversation_id_conversations_id_fk" FOREIGN KEY ("conversation_id") REFERENCES "public"."conversations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "addresses_lead" ON "addresses" USING btree ("lead_id");--> statement-breakpoint
CREATE INDEX "conversations_lead" ON "conversations" USING btree ("lead_id");--> statement-breakpoint
CREATE INDEX "conversations_next_due_at" ON "conversations" USING btree ("next_due_at") WHERE next_due_at is not null;--> statement-breakpoint
CREATE INDEX "conversations_oldest_owed_at" ON "conversations" USING btree ("oldest_owed_at") WHERE owed_since is not null;--> statement-breakpoint
CREATE INDEX "conversations_touched_at" ON "conversations" USING btree ("touched_at");--> statement-breakpoint
CREATE INDEX "conversations_business" ON "conversations" USING btree ("business_id","touched_at");--> statement-breakpoint
CREATE INDEX "follow_up_steps_open" ON "follow_up_steps" USING btree ("conversation_id","due_at") WHERE written_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "messages_provider_id" ON "messages" USING btree ("account_id","provider_message_sha256");--> statement-breakpoint
CREATE INDEX "messages_unsettled" ON "messages" USING btree ("conversation_id") WHERE owes and settled_at is null;--> statement-breakpoint
CREATE INDEX "delivery_jobs_receipt" ON "delivery_jobs" USING btree ("receipt_id");--> statement-breakpoint
CREATE INDEX "raw_deliveries_received_at" ON "raw_deliveries" USING btree ("received_at");--> statement-breakpoint
CREATE INDEX "receipt_duplicates_receipt" ON "receipt_duplicates" USING btree ("receipt_id");--> statement-breakpoint
CREATE INDEX "transport_traces_conversation" ON "transport_traces" USING btree ("conversation_id");--> statement-breakpoint
CREATE INDEX "webhook_receipts_raw" ON "webhook_receipts" USING btree ("raw_id");--> statement-breakpoint
CREATE UNIQUE INDEX "takeover_events_event" ON "takeover_events" USING btree ("session_id","event_id");--> statement-breakpoint
CREATE INDEX "takeover_events_conversation" ON "takeover_events" USING btree ("conversation_id");--> statement-breakpoint
CREATE UNIQUE INDEX "work_items_one_open_handoff" ON "work_items" USING btree ("conversation_id") WHERE kind = 'handoff' and resolved_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "work_items_one_per_send" ON "work_items" USING btree ("send_id","kind") WHERE send_id is not null and resolved_at is null;--> statement-breakpoint
CREATE INDEX "work_items_open" ON "work_items" USING btree ("business_id","opened_at") WHERE resolved_at is null;--> statement-breakpoint
CREATE INDEX "work_items_conversation" ON "work_items" USING btree ("conversation_id");--> statement-breakpoint
CREATE UNIQUE INDEX "outbox_one_live_send" ON "outbox" USING btree ("conversation_id","purpose","source_event") WHERE state not in ('cancelled', 'failed');--> statement-breakpoint
CREATE INDEX "outbox_open" ON "outbox" USING btree ("conversation_id") WHERE state in ('queued', 'leased', 'sending');--> statement-breakpoint
CREATE INDEX "outbox_conversation" ON "outbox" USING btree ("conversation_id","created_at");--> statement-breakpoint
CREATE INDEX "provider_messages_send" ON "provider_messages" USING btree ("send_id");--> statement-breakpoint
CREATE UNIQUE INDEX "send_attempts_number" ON "send_attempts" USING btree ("send_id","number");--> statement-breakpoint
CREATE INDEX "send_attempts_address" ON "send_attempts" USING btree ("address_id","started_at");--> statement-breakpoint
CREATE INDEX "send_attempts_conversation" ON "send_attempts" USING btree ("conversation_id");--> statement-breakpoint
CREATE INDEX "send_decisions_send" ON "send_decisions" USING btree ("send_id");--> statement-breakpoint
CREATE INDEX "send_outcomes_send" ON "send_outcomes" USING btree ("send_id");