import { refreshAgenda } from './agenda';
import { isOpen, type Account, type Conversation, type Facts } from './facts';
import { openItem } from './items';

/** `pauseAccount` of db/accounts: refused credentials pause this account alone (IN4). */
export function pauseAccount(facts: Facts, account: Account, code: string, nowMs: number): void {
  if (account.pausedAtMs !== null) return;
  account.pausedAtMs = nowMs;
  openItem(facts, null, { kind: 'credentials', reason: code, nowMs });
}

/**
 * `resumeAccount` of db/accounts, for every paused account: what waited is due again by its own
 * clock. Returns whom to wake.
 */
export function mendAccounts(facts: Facts, nowMs: number): readonly Conversation[] {
  const paused = facts.accounts.map(({ pausedAtMs }) => pausedAtMs !== null);
  for (const account of facts.accounts) account.pausedAtMs = null;
  for (const item of facts.operatorItems) item.resolution ??= 'credentials_mended';
  const waiting = facts.conversations.filter(
    (conversation) =>
      paused[conversation.account] === true &&
      (conversation.owedSince !== null || conversation.sends.some(isOpen)),
  );
  for (const conversation of waiting) refreshAgenda(facts, conversation, nowMs);
  return waiting;
}
