export * from './audit';
export * from './businesses';
export * from './conversations';
export * from './intake';
export * from './people';
export * from './sending';
