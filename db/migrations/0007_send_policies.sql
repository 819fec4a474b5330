CREATE TABLE "send_policies" (
	"business_id" text NOT NULL,
	"version" text NOT NULL,
	"channel" text,
	"account_id" text,
	"rules" jsonb NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"ordinal" bigint GENERATED ALWAYS AS IDENTITY (sequence name "send_policies_ordinal_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	CONSTRAINT "send_policies_business_id_version_pk" PRIMARY KEY("business_id","version")
);
--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "template" jsonb;--> statement-breakpoint
ALTER TABLE "send_policies" ADD CONSTRAINT "send_policies_business_id_businesses_id_fk" FOREIGN KEY ("business_id") REFERENCES "public"."businesses"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "send_policies" ADD CONSTRAINT "send_policies_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "outbox_one_fallback" ON "outbox" USING btree ("fallback_for") WHERE fallback_for is not null;