import type { Channel } from './inbound';

/**
 * The words in which a timeline is told. Tables are maps and not objects, because some keys are
 * codes that a provider chose.
 */

/** The channels as people call them. */
export const CHANNEL_NAMES: Readonly<Record<Channel, string>> = {
  messenger: 'Messenger',
  instagram: 'Instagram',
  whatsapp: 'WhatsApp',
  sms: 'SMS',
};

const STATES = new Map([
  ['active', 'Active'],
  ['replied', 'Replied'],
  ['booked', 'Booked'],
  ['opted_out', 'Opted out'],
  ['paused', 'Paused'],
  ['closed', 'Closed'],
]);

/** The name of a conversation's state. */
export function stateName(state: string): string {
  return STATES.get(state) ?? spelledOut(state);
}

const PURPOSES = new Map([
  ['answer', 'answer'],
  ['follow-up', 'follow-up'],
  ['opt-out-confirmation', 'confirmation of the opt-out'],
  ['booking-confirmation', 'booking confirmation'],
  ['staff', 'message of a person'],
]);

/** What a send is, as a noun without article. */
export function purposeName(purpose: string): string {
  return PURPOSES.get(purpose) ?? 'message';
}

const CAUSES = new Map([
  ['lead_replied', 'The lead replied, so follow-ups stop'],
  ['lead_opted_out', 'The lead opted out, so nothing automatic is sent any more'],
  ['lead_opted_in', 'The lead wants to hear from us again'],
  ['lead_wrote_again', 'The lead wrote again, so the conversation is open again'],
  ['provider_opt_out', 'The provider reports that the lead opted out'],
  ['handover', 'Automation waits until a person has looked at it'],
  ['answered_in_provider_app', "Somebody answered in the provider's own app, so automation waits"],
  ['staff_claim', 'A person took over, so automation waits'],
  ['staff_release', 'A person gave the conversation back'],
  ['staff_booking', 'A person marked the job as booked'],
  ['staff_reply', 'A person wrote to the lead, so automation waits'],
  ['staff_pause', 'A person paused automation'],
  ['staff_resume', 'A person let automation go on'],
  ['staff_close', 'A person closed the conversation'],
  ['staff_opt_in', 'A person recorded that the lead wants to hear from us again'],
  ['staff_opt_out', 'A person recorded that the lead wants no more messages'],
]);

/** Why the state moved, as a clause without full stop. */
export function causeClause(cause: string): string {
  return CAUSES.get(cause) ?? `The cause is “${spelledOut(cause)}”`;
}

const NOT_SENT = new Map([
  ['newer_inbound', 'the lead wrote again first, so one answer will cover everything'],
  ['lead_replied', 'the lead replied'],
  ['person_owns', 'a person has the conversation'],
  ['handed_over', 'the conversation went to a person'],
  ['conversation_stopped', "the conversation's state does not allow it any more"],
  ['expired', 'its time had passed'],
  ['window_closed', "the channel's reply window has closed"],
  ['opted_out', 'the lead opted out'],
  ['booked', 'the job is booked'],
  ['paused_by_staff', 'a person paused automation'],
  ['closed_by_staff', 'a person closed the conversation'],
  ['draft_expired', 'nobody approved it in time'],
  ['rejected', 'a person rejected it'],
  ['did_not_arrive', 'a person found that it did not arrive'],
  ['rule_changed', 'the rules changed, and another decision took its place'],
  ['delivery_failed', 'the message before it did not arrive'],
  ['send_budget', 'the limit of automatic messages to this person is reached'],
]);

/** Why a message did not leave, or a plan ended, as a clause without full stop. */
export function stopClause(reason: string | null): string {
  if (reason === null) return 'the reason was not recorded';
  return NOT_SENT.get(reason) ?? `the reason is “${spelledOut(reason)}”`;
}

const NO_ANSWER = new Map([
  ['covered', 'it was added to something that was just answered'],
  ['thanks', 'it only says thanks'],
  ['robot', 'it looks like an automatic message'],
  ['opted_out', 'the opt-out was confirmed before'],
  ['opted_out_by_staff', 'a person recorded that the lead wants no more messages'],
  ['closed_by_staff', 'a person closed the conversation'],
  ['confirmed_by_provider', 'the provider confirms the opt-out itself'],
]);

/** Why a message needs no answer, as a clause without full stop. */
export function noAnswerClause(reason: string | null): string {
  if (reason === null) return 'the reason was not recorded';
  return NO_ANSWER.get(reason) ?? `the reason is “${spelledOut(reason)}”`;
}

const TAKEOVER_REASONS = new Map([
  ['policy_requires_human', 'a rule requires a person'],
  ['reply_overdue', 'the answer is overdue'],
  ['replays_exhausted', 'every try to send the answer failed'],
  ['delivery_unknown', 'it is not known whether a message arrived'],
  ['quote_requires_human', 'the price needs a person'],
  ['lead_requested_human', 'the lead asked for a person'],
]);

/** Why a person was asked for; null where the event says it all. */
export function takeoverReason(reason: string): string | null {
  return TAKEOVER_REASONS.get(reason) ?? null;
}

const ACTORS = new Map([
  ['conversation-router', 'Automation'],
  ['sweeper', 'The sweep for forgotten leads'],
  ['support-agent', 'A support agent'],
  ['shift-supervisor', 'A shift supervisor'],
]);

/** Who acted, at the beginning of a sentence; always a role or a service, never a person (H1). */
export function actorName(ref: string | null): string {
  return ACTORS.get(ref ?? '') ?? 'Staff';
}

const ROLES = new Map([
  ['agent', 'An agent'],
  ['manager', 'A manager'],
  ['owner', 'The owner'],
]);

/** A company role at the beginning of a sentence; never a person's name (H1). */
export function roleName(role: string): string {
  return ROLES.get(role) ?? 'Staff';
}

const RESOLUTIONS = new Map([
  ['answered_in_provider_app', "answered in the provider's own app"],
  ['provider_reported_failure', 'the provider reported that it failed'],
  ['proven_by_response', 'the provider had accepted it'],
  ['proven_by_read-back', "it was found in the provider's thread"],
  ['proven_by_status', "the provider's report proves that it was sent"],
  ['proven_by_echo', "the provider's copy of the thread proves that it was sent"],
  ['proven_by_review', 'a person confirmed that it arrived'],
  ['given_back', 'given back to automation'],
  ['answered_by_staff', 'the lead got an answer'],
  ['answered', 'the lead got an answer'],
  ['no_answer_needed', 'no answer is needed'],
  ['resolved_by_staff', 'nothing is left to do'],
  ['explained_in_note', 'see the note'],
  ['closed_by_staff', 'the conversation was closed'],
  ['did_not_arrive', 'the message did not arrive'],
  ['withdrawn', 'the draft was withdrawn'],
  ['approved', 'the draft was approved'],
  ['rejected', 'the draft was rejected'],
  ['draft_expired', 'nobody approved it in time'],
  ['credentials_mended', 'the account may go on'],
]);

/** How a work item ended, as a clause without full stop; null where nothing was recorded. */
export function resolutionClause(resolution: string | null): string | null {
  if (resolution === null) return null;
  return RESOLUTIONS.get(resolution) ?? spelledOut(resolution);
}

const MEDIA = new Map([
  ['image', 'Photo'],
  ['audio', 'Voice message'],
  ['video', 'Video'],
  ['file', 'File'],
  ['sticker', 'Sticker'],
  ['location', 'Location'],
]);

/** What came with a message: "Photo, Voice message". */
export function mediaNames(kinds: readonly string[]): string {
  return kinds.map((kind) => MEDIA.get(kind) ?? 'Attachment').join(', ');
}

/** A controlled word as a person would write it: `new_kind-of` becomes "new kind of". */
function spelledOut(word: string): string {
  return word.replaceAll(/[_-]+/g, ' ').trim();
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** A duration in the largest unit that says enough: "340 ms", "1.3 s", "5 min", "3 h", "4 days". */
export function durationWords(milliseconds: number): string {
  if (milliseconds < SECOND_MS) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 10 * SECOND_MS) return `${Math.round(milliseconds / 100) / 10} s`;
  if (milliseconds < MINUTE_MS) return `${Math.floor(milliseconds / SECOND_MS)} s`;
  if (milliseconds < HOUR_MS) return `${Math.floor(milliseconds / MINUTE_MS)} min`;
  if (milliseconds < 48 * HOUR_MS) return `${Math.floor(milliseconds / HOUR_MS)} h`;
  return `${Math.floor(milliseconds / (24 * HOUR_MS))} days`;
}
