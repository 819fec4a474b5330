import type { Config } from './env';

/** The channels' options out of the configuration; a provider without secrets is not connected. */
export function channelsOptions(config: Config) {
  const { META_APP_SECRET, META_VERIFY_TOKEN, META_APP_ID, META_GRAPH_URL } = config;
  const { TWILIO_AUTH_TOKEN, TWILIO_ACCOUNT_SID, TWILIO_API_URL } = config;
  return {
    publicUrl: config.PUBLIC_URL,
    ...(META_APP_SECRET.length === 0
      ? {}
      : {
          meta: {
            appSecrets: META_APP_SECRET,
            verifyToken: META_VERIFY_TOKEN,
            appId: META_APP_ID,
            graphUrl: META_GRAPH_URL,
          },
        }),
    ...(TWILIO_AUTH_TOKEN.length === 0
      ? {}
      : {
          twilio: {
            apiUrl: TWILIO_API_URL,
            accountSid: TWILIO_ACCOUNT_SID,
            authTokens: TWILIO_AUTH_TOKEN,
          },
        }),
  };
}
