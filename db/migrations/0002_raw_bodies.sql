-- The grant of 0001 lets retention write the column `body`; it may only empty it. The bytes that a
-- provider signed are evidence, and nobody may put others in their place (INV-1, C11).
CREATE TRIGGER only_emptied BEFORE UPDATE ON raw_deliveries
  FOR EACH ROW WHEN (NEW.body IS NOT NULL) EXECUTE FUNCTION refuse_change();
