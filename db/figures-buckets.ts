/** Upper bounds of the stages' histograms, in seconds: from fast stages to waits for a person. */
export const STAGE_BUCKETS = [
  ...[0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60],
  ...[300, 600, 3_600],
] as const;

/** Of the time that an item waits for a person. */
export const REVIEW_BUCKETS = [60, 300, 600, 1_800, 3_600, 14_400, 86_400, 604_800] as const;

/** Stages that end with the arrival: every message has one, whatever answers it. */
export const FIRST_STAGES = [
  'unsilent_source_to_ingress_seconds',
  'unsilent_normalize_seconds',
] as const;
