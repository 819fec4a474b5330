/** Made from docs/openapi.json by web/scripts/api-types.ts; do not edit. */
export type ConversationList = {
  now: string;
  counts: { owed: number; needsPerson: number };
  items: Conversation[];
  nextCursor: string | null;
};

export type Conversation = {
  id: string;
  channel: Channel;
  leadName: string;
  state: ConversationState;
  owner: Owner;
  version: number;
  owedSince: string | null;
  owedForMs: number | null;
  lastActivityAt: string;
  preview: { author: Author; text: string } | null;
  openWorkItems: number;
};

export type Channel = 'messenger' | 'instagram' | 'whatsapp' | 'sms';

export type ConversationState = 'active' | 'replied' | 'booked' | 'opted_out' | 'paused' | 'closed';

export type Owner = 'automation' | 'person';

export type Author = 'lead' | 'automation' | 'staff' | 'native' | 'import';

export type Problem = {
  type: string;
  status: number;
  code: string;
  title: string;
  detail: string;
  newestSeq?: number;
  requestId?: string;
};

export type ConversationDetail = {
  id: string;
  channel: Channel;
  leadName: string;
  state: ConversationState;
  owner: Owner;
  version: number;
  owedSince: string | null;
  owedForMs: number | null;
  lastActivityAt: string;
  preview: { author: Author; text: string } | null;
  openWorkItems: number;
  now: string;
  rememberedState: ConversationState | null;
  episode: number;
  newestSeq: number;
  phone: string | null;
  business: { name: string; timeZone: string };
  account: { externalId: string; pausedReason: string | null };
};

export type Timeline = {
  conversationId: string;
  now: string;
  timeZone: string;
  newestSeq: number;
  olderOmitted: boolean;
  entries: TimelineEntry[];
};

export type TimelineEntry = {
  id: string;
  kind:
    | 'message'
    | 'received'
    | 'state'
    | 'decision'
    | 'attempt'
    | 'outcome'
    | 'not-sent'
    | 'settled'
    | 'work-item'
    | 'takeover'
    | 'follow-up'
    | 'latency';
  at: string;
  text: string;
  tone: 'quiet' | 'info' | 'good' | 'warning' | 'bad';
  message: {
    direction: 'in' | 'out';
    author: Author;
    seq: number;
    media: string[];
    delivery: 'sent' | 'delivered' | 'failed' | 'unknown' | null;
    edited: boolean;
    deleted: boolean;
  } | null;
  quote: string | null;
  upcoming: boolean;
};

export type CommandResult = {
  conversationId: string;
  state: string;
  owner: string;
  version: number;
};

export type CommandBody = { seenSeq?: number };

export type EscalationList = { now: string; items: WorkItem[]; nextCursor: string | null };

export type WorkItem = {
  id: string;
  kind:
    | 'handoff'
    | 'approval'
    | 'delivery-unknown'
    | 'delivery-failed'
    | 'not-sent'
    | 'follow-up-by-hand'
    | 'job-review'
    | 'quarantine'
    | 'credentials'
    | 'content-conflict';
  reason: string;
  explanation: string;
  conversationId: string | null;
  channel: Channel | null;
  leadName: string | null;
  sendId: string | null;
  queue: string;
  newestSeq: number | null;
  openedAt: string;
  escalateAt: string | null;
};

export type DeliveryList = { now: string; items: Delivery[]; nextCursor: string | null };

export type Delivery = {
  id: string;
  conversationId: string;
  channel: Channel;
  leadName: string | null;
  purpose: 'answer' | 'follow-up' | 'opt-out-confirmation' | 'booking-confirmation' | 'staff';
  state:
    | 'queued'
    | 'leased'
    | 'sending'
    | 'accepted'
    | 'delivered'
    | 'cancelled'
    | 'failed'
    | 'delivery_unknown';
  text: string;
  reason: string | null;
  attempts: number;
  attemptedAt: string | null;
  createdAt: string;
  workItemId: string | null;
};

export type Hint = { id: string; version: number };

export interface Operations {
  'GET /api/conversations': {
    query: {
      state?: ConversationState;
      channel?: Channel;
      owner?: Owner;
      owed?: 'true' | 'false';
      needsPerson?: 'true' | 'false';
      q?: string;
      cursor?: string;
      limit?: number;
    };
    body: undefined;
    answer: ConversationList;
  };
  'GET /api/conversations/{id}': {
    query: {};
    body: undefined;
    answer: ConversationDetail;
  };
  'GET /api/conversations/{id}/timeline': {
    query: {};
    body: undefined;
    answer: Timeline;
  };
  'POST /api/conversations/{id}/claim': {
    query: {};
    body: CommandBody;
    answer: CommandResult;
  };
  'POST /api/conversations/{id}/release': {
    query: {};
    body: CommandBody;
    answer: CommandResult;
  };
  'POST /api/conversations/{id}/book': {
    query: {};
    body: CommandBody;
    answer: CommandResult;
  };
  'POST /api/conversations/{id}/opt-out': {
    query: {};
    body: CommandBody;
    answer: CommandResult;
  };
  'GET /api/escalations': {
    query: { cursor?: string; limit?: number };
    body: undefined;
    answer: EscalationList;
  };
  'GET /api/deliveries': {
    query: {
      state?:
        | 'queued'
        | 'leased'
        | 'sending'
        | 'accepted'
        | 'delivered'
        | 'cancelled'
        | 'failed'
        | 'delivery_unknown';
      cursor?: string;
      limit?: number;
    };
    body: undefined;
    answer: DeliveryList;
  };
  'GET /api/events': {
    query: {};
    body: undefined;
    answer: Hint;
  };
}
