DROP INDEX "conversations_oldest_owed_at";--> statement-breakpoint
ALTER TABLE "conversations" ADD COLUMN "swept_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "turn_markers" ADD COLUMN "thrown_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "conversations_overdue_from" ON "conversations" USING btree ("overdue_from") WHERE owed_since is not null;--> statement-breakpoint
CREATE INDEX "sent_markers_accepted_at" ON "sent_markers" USING btree ("accepted_at");