/**
 * Ways to break the model on purpose. Each is a bug that the product could have; the simulator has
 * to find it, which shows that its checks and its faults are strong enough.
 */
export const MUTANTS = [
  /** The gate lets everything leave that it is shown. */
  'skip-second-check',
  /** A settled debt is cleared although a newer message came. */
  'clear-without-compare',
  /** An attempt of unknown outcome is sent again. */
  'blind-resend',
  /** What a lagging list does not show counts as never sent. */
  'absent-means-not-sent',
  /** A takeover is logged, but automation goes on. */
  'no-stop-at-claim',
  /** A webhook is answered with success although its commit failed. */
  'acknowledge-before-commit',
  /** Two deliveries of one event are two messages. */
  'no-unique-receipt',
  /** Neither relay nor sweeper repeats a lost wake-up. */
  'no-rescue',
  /** A worker that lost its lease passes the gate. */
  'lease-not-compared',
  /** Two messages of one instant get one token. */
  'token-not-increasing',
  /** An opt-out is written down, and stops nothing. */
  'opt-out-stops-nothing',
  /** Follow-ups go on after the lead wrote. */
  'reply-stops-nothing',
  /** What proves an acceptance is not looked at before the review. */
  'marker-not-read',
  /** A status moves down as well as up. */
  'status-moves-down',
] as const;
export type Mutant = (typeof MUTANTS)[number];
