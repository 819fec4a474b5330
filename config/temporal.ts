import { loadClientConnectConfig } from '@temporalio/envconfig';

/**
 * Where Temporal is, as the SDK's own environment configuration says (`TEMPORAL_ADDRESS`,
 * `TEMPORAL_NAMESPACE`, `TEMPORAL_PROFILE`, TLS and API keys).
 */
export function readTemporalConfig() {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  return { connectionOptions, namespace: namespace ?? 'default' };
}
