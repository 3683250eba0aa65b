/** Whether a host name or address means this machine only. */
export const isLoopback = (host: string): boolean => /^(?:localhost|127\..*|\[?::1\]?)$/.test(host);
