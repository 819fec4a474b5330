CREATE TABLE "job_attempts" (
	"job_id" text NOT NULL,
	"attempt" integer NOT NULL,
	"integration_id" text NOT NULL,
	"business_id" text NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"outcome" text,
	"code" text,
	"ended_at" timestamp with time zone,
	CONSTRAINT "job_attempts_job_id_attempt_integration_id_pk" PRIMARY KEY("job_id","attempt","integration_id"),
	CONSTRAINT "job_attempts_outcome" CHECK (outcome in ('accepted', 'refused', 'not-accepted', 'unknown', 'paused'))
);
--> statement-breakpoint
ALTER TABLE "notices" ADD COLUMN "number" integer NOT NULL;--> statement-breakpoint
ALTER TABLE "work_items" ADD COLUMN "subject_id" text;--> statement-breakpoint
ALTER TABLE "work_items" ADD COLUMN "clock_from_level" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "work_items_one_per_subject" ON "work_items" USING btree ("subject_id","kind") WHERE subject_id is not null and resolved_at is null;--> statement-breakpoint
ALTER TABLE "notices" ADD CONSTRAINT "notices_one_after_another" UNIQUE NULLS NOT DISTINCT("business_id","queue","number");