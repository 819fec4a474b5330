import express, { type Express } from 'express';
import helmet from 'helmet';
import { makeHealthRouter, type HealthDependencies } from './health';
import { makeMetricsRouter, type MetricsDependencies } from './metrics';
import { problemHandler } from './problem';
import { makeStaffRouter, type StaffApiDependencies } from './staff/router';
import { serveConsole } from './console/serve';
import { makeWebhookRouter, type WebhookDependencies } from './webhooks/router';

export interface AppDependencies {
  readonly webhooks: WebhookDependencies;
  readonly health: HealthDependencies;
  readonly metrics: MetricsDependencies;
  readonly staff: StaffApiDependencies;
  /** Where the built console is; absent in tests that do not need it. */
  readonly webRoot?: string;
}

/** The whole HTTP side of the product: webhooks first, because they read raw bytes (IN1). */
export function createApp(dependencies: AppDependencies): Express {
  const app = express();
  app.disable('x-powered-by');
  // The origin comes from configuration; forwarded headers are never believed (traps.md).
  app.set('trust proxy', false);
  app.use('/webhooks', makeWebhookRouter(dependencies.webhooks));
  app.use(makeHealthRouter(dependencies.health));
  app.use(makeMetricsRouter(dependencies.metrics));
  app.use(helmet({ contentSecurityPolicy: false }));
  app.use('/api', makeStaffRouter(dependencies.staff));
  if (dependencies.webRoot !== undefined) {
    app.use(serveConsole({ webRoot: dependencies.webRoot }));
  }
  app.use(problemHandler(dependencies.staff.log));
  return app;
}
