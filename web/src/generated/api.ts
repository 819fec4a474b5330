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
    | 'note'
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

export type Evidence = {
  configVersion: string;
  conversationId: string;
  providerEventIds: string[];
  queuedMessageIds: string[];
  transitions: {
    ordinal: number;
    fromState: string;
    toState: string;
    version: number;
    cause: string;
    causeRef: string | null;
    changed: boolean;
    occurredAt: string;
    at: string;
    cancelledSendIds: string[];
    acceptedAfterStop: string[];
  }[];
  attempts: {
    attemptId: string;
    sendId: string;
    number: number;
    purpose: string;
    decisionId: string;
    notBefore: string;
    expiresAt: string | null;
    conversationVersion: number;
    sawSeq: number;
    startedAt: string;
  }[];
  providerResponses: {
    attemptId: string;
    sendId: string;
    outcome: string;
    code: string | null;
    evidence: string;
    providerMessageSha256: string | null;
    acceptedAt: string | null;
    recordedAt: string;
  }[];
  facts: {
    stopOccurredAt: string | null;
    stateChangedAt: string | null;
    cancelledSendIds: string[];
    acceptedAfterStop: string[];
  };
};

export type CommandResult = {
  conversationId: string;
  state: string;
  owner: string;
  version: number;
};

export type CommandBody = { seenSeq?: number };

export type ReplyBody = { seenSeq?: number; text: string };

export type NoteBody = { seenSeq?: number; text: string };

export type ApproveBody = { seenSeq?: number; text?: string };

export type RejectBody = { seenSeq?: number; reason: string };

export type SendNowBody = { seenSeq?: number; sendId?: string; reason?: string };

export type PostponeBody = { seenSeq?: number; sendId?: string; until: string; reason?: string };

export type OptInBody = { seenSeq?: number; source: string; at: string; words: string };

export type AssignBody = { seenSeq?: number; queue: string };

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
  escalateAt: string;
  nextEscalationAt: string | null;
  level: number;
  claimedAt: string | null;
  claimedBy: string | null;
  resolvedAt: string | null;
  resolvedBy: string | null;
  resolution: string | null;
};

export type WorkItemResult = {
  workItemId: string;
  conversationId: string | null;
  queue: string;
  claimedAt: string | null;
  claimedBy: string | null;
  resolvedAt: string | null;
  resolution: string | null;
};

export type ResolveBody = { seenSeq?: number; resolution?: string };

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

export type SettleBody = { arrived: boolean };

export type AuditReport = { now: string; items: AuditCheck[] };

export type AuditCheck = {
  invariant: string;
  says: string;
  violations: number;
  checkedAt: string;
  fullyCheckedAt: string | null;
  rows: string[];
};

export type Hint = { id: string; version: number };

export type NoticeHint = {
  id: string;
  queue: 'front-desk' | 'shift-lead' | 'owner' | 'operators' | 'operators-on-call';
  items: number;
};

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
  'GET /api/conversations/{id}/evidence': {
    query: {};
    body: undefined;
    answer: Evidence;
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
  'POST /api/conversations/{id}/pause': {
    query: {};
    body: CommandBody;
    answer: CommandResult;
  };
  'POST /api/conversations/{id}/resume': {
    query: {};
    body: CommandBody;
    answer: CommandResult;
  };
  'POST /api/conversations/{id}/reply': {
    query: {};
    body: ReplyBody;
    answer: CommandResult;
  };
  'POST /api/conversations/{id}/note': {
    query: {};
    body: NoteBody;
    answer: CommandResult;
  };
  'POST /api/conversations/{id}/approve': {
    query: {};
    body: ApproveBody;
    answer: CommandResult;
  };
  'POST /api/conversations/{id}/reject': {
    query: {};
    body: RejectBody;
    answer: CommandResult;
  };
  'POST /api/conversations/{id}/send-now': {
    query: {};
    body: SendNowBody;
    answer: CommandResult;
  };
  'POST /api/conversations/{id}/postpone': {
    query: {};
    body: PostponeBody;
    answer: CommandResult;
  };
  'POST /api/conversations/{id}/opt-in': {
    query: {};
    body: OptInBody;
    answer: CommandResult;
  };
  'POST /api/conversations/{id}/assign': {
    query: {};
    body: AssignBody;
    answer: CommandResult;
  };
  'POST /api/conversations/{id}/close': {
    query: {};
    body: CommandBody;
    answer: CommandResult;
  };
  'GET /api/escalations': {
    query: {
      state?: 'open' | 'resolved';
      kind?:
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
      queue?: string;
      cursor?: string;
      limit?: number;
    };
    body: undefined;
    answer: EscalationList;
  };
  'POST /api/escalations/{id}/claim': {
    query: {};
    body: CommandBody;
    answer: WorkItemResult;
  };
  'POST /api/escalations/{id}/resolve': {
    query: {};
    body: ResolveBody;
    answer: WorkItemResult;
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
  'POST /api/deliveries/{id}/settle': {
    query: {};
    body: SettleBody;
    answer: CommandResult;
  };
  'GET /api/audit': {
    query: {};
    body: undefined;
    answer: AuditReport;
  };
  'GET /api/events': {
    query: {};
    body: undefined;
    answer: Hint | NoticeHint;
  };
}
