package ferro.collectives;

import ferro.spi.CallHeader;

/**
 * One collective in the queue.
 *
 * @param work     handle
 * @param prepared plan and schedule
 * @param operands its memory
 * @param header   what every rank must agree on
 */
record Operation(PendingWork work, Prepared prepared, Operands operands, CallHeader header) {}
