/** Every bound of the send path in one place, each with its reason. */

/** A worker that claims a row has this long to reach the gate; then others may claim it. */
export const LEASE_MS = 3_000;

/** The provider call starts within this time of the gate's commit, or the row is given back. */
export const CALL_START_LIMIT_MS = 2_000;

/** One provider call, connect to last byte. */
export const CALL_TIMEOUT_MS = 10_000;

/**
 * Nobody judges or reads back an attempt earlier than this after its gate: a frozen process that
 * wakes must find its call window closed first (design.md, "the attempt limit").
 */
export const ATTEMPT_LIMIT_MS = 20_000;

/** An automatic answer that left this long after the debt fell due would do more harm than good. */
export const ANSWER_EXPIRES_AFTER_MS = 3_600_000;

/** A bare opener or media without text waits this long, so that a burst gets one answer (P4b). */
export const OPENER_WAIT_MS = 1_000;

/** After so many withdrawals a draft that missed only fresh messages may leave (P4b case 4). */
export const DRAFT_WITHDRAWALS_MAX = 2;

/** Or after this long since the oldest unanswered message. */
export const DRAFT_PATIENCE_MS = 5_000;

/** "Fresh" in P4b case 4: messages younger than this may be missed, and keep their debt. */
export const MISSABLE_AGE_MS = 2_000;

/** Media added to something answered less than this ago needs no answer of its own (P4b case 5). */
export const MEDIA_COVERED_MS = 10_000;

/** Delays before a send or job is tried again; then it goes to a person (IN4). */
export const RETRY_DELAYS_MS = [1_000, 5_000, 30_000, 120_000] as const;

/** Automatic sends other than follow-up steps since the address last wrote (INV-17b). */
export const SENDS_PER_INBOUND_MAX = 2;

/** Sends to one address, whatever the cause (INV-17b). */
export const SENDS_PER_10_MINUTES_MAX = 20;
export const SENDS_PER_HOUR_MAX = 60;
export const SENDS_PER_DAY_MAX = 120;

/** How much of a thread a turn reads. */
export const THREAD_MESSAGES_MAX = 30;

/** A run rolls at so many events or signals: replay stays short (temporal.md 1.6). */
export const CONTINUE_AS_NEW_EVENTS = 300;
export const CONTINUE_AS_NEW_SIGNALS = 500;

/** Automatic answers to one conversation; a person looks at what needs more (INV-17). */
export const TURNS_PER_HOUR_MAX = 12;
export const TURNS_PER_DAY_MAX = 40;

/** Answers to ours that come faster than anybody types them, or with the same words, in a row. */
export const ROBOT_GAP_MS = 2_000;
export const ROBOT_TYPED_CHARACTERS_MIN = 40;
export const ROBOT_REPEATED_CHARACTERS_MIN = 12;
export const ROBOT_ANSWERS_MIN = 4;
