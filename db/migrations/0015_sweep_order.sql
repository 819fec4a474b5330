DROP INDEX "conversations_overdue_from";--> statement-breakpoint
CREATE INDEX "conversations_overdue_from" ON "conversations" USING btree ("overdue_from","id") WHERE owed_since is not null;