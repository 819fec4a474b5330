CREATE TABLE "audit_findings" (
	"says" text NOT NULL,
	"scope" text NOT NULL,
	"row_id" text NOT NULL,
	"business_id" text,
	"found_at" timestamp with time zone NOT NULL,
	CONSTRAINT "audit_findings_says_scope_row_id_pk" PRIMARY KEY("says","scope","row_id")
);
--> statement-breakpoint
CREATE TABLE "audit_results" (
	"says" text NOT NULL,
	"scope" text NOT NULL,
	"invariant" text NOT NULL,
	"violations" integer NOT NULL,
	"took_ms" integer NOT NULL,
	"checked_at" timestamp with time zone NOT NULL,
	CONSTRAINT "audit_results_says_scope_pk" PRIMARY KEY("says","scope"),
	CONSTRAINT "audit_results_scope" CHECK (scope in ('recent', 'full'))
);
--> statement-breakpoint
CREATE TABLE "figure_rollups" (
	"through" timestamp with time zone NOT NULL,
	"name" text NOT NULL,
	"labels" text NOT NULL,
	"value" double precision NOT NULL,
	CONSTRAINT "figure_rollups_through_name_labels_pk" PRIMARY KEY("through","name","labels")
);
--> statement-breakpoint
CREATE INDEX "audit_findings_business" ON "audit_findings" USING btree ("business_id");