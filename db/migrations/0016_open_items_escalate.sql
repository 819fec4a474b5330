-- Items that were opened before there were levels stood without a clock, as if somebody had acted:
-- nobody would ever have been notified of them. Their deadline has come (C7).
UPDATE work_items SET next_escalation_at = escalate_at,
  automation_paused_at = CASE WHEN kind = 'handoff' THEN opened_at END
WHERE resolved_at IS NULL AND claimed_at IS NULL AND level = 0 AND next_escalation_at IS NULL;
