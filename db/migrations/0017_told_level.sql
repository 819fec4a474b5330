-- Items that stand open start at 0: the first look marks those of which everything was told.
ALTER TABLE "work_items" ADD COLUMN "told_level" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "work_items_untold" ON "work_items" USING btree ("id") WHERE next_escalation_at is not null and level - told_level > 0;--> statement-breakpoint
-- The planner knows no correlation of two columns and would take a third of the items for untold.
CREATE STATISTICS "work_items_untold" ON (level - told_level) FROM "work_items";
