import type { World } from './world';

/** An answer that was taken through the turn; its attempt exists once it is delivered. */
export interface Answered {
  readonly conversationId: string;
  readonly sendId: string;
  readonly text: string;
}

/** Takes the owed turn of the only conversation, up to the queued answer. */
export async function draftAnswer(world: World, channel?: string): Promise<Answered> {
  const [row] = await world.rows(
    'select id from conversations where $1::text is null or channel = $1 order by created_at limit 1',
    [channel ?? null],
  );
  const conversationId = String(row?.['id']);
  await world.activities.takeTurn({ conversationId });
  const [send] = await world.rows(
    `select id, body from outbox where conversation_id = $1 and state = 'queued'
     order by created_at desc limit 1`,
    [conversationId],
  );
  if (send === undefined) throw new Error('the turn queued nothing');
  return { conversationId, sendId: String(send['id']), text: String(send['body']) };
}

/** Takes the owed turn and delivers the answer, as the workflow would. */
export async function answer(world: World, channel?: string): Promise<Answered> {
  const drafted = await draftAnswer(world, channel);
  await world.activities.deliver(drafted);
  return drafted;
}

/** Delivers an answer whose outcome stays unknown, and gives it to review past its limit. */
export async function answerIntoTheUnknown(world: World, channel?: string): Promise<Answered> {
  world.provider.next(() => ({ kind: 'unknown', code: 'read_timeout' }));
  const answered = await answer(world, channel);
  await ageAttempts(world, 30);
  world.provider.readBackAnswer = { kind: 'unavailable', code: 'list_down' };
  await world.activities.resolve(answered);
  return answered;
}

/** Lets the sends of the world look older than they are; their attempts keep their instants. */
export async function ageAttempts(world: World, seconds: number): Promise<void> {
  await world.rows(
    'update outbox set attempted_at = attempted_at - make_interval(secs => $1::int)',
    [seconds],
  );
}

/** The attempt under which a send left. */
export async function attemptOf(world: World, sendId: string): Promise<string> {
  const [row] = await world.rows('select attempt_id from outbox where id = $1', [sendId]);
  return String(row?.['attempt_id']);
}
