/**
 * The memory of operations: how it is cut into chunks, which calls overlap, scratch, and tensors of the group.
 *
 * <p>Start reading at {@code Schedule}. This package knows no links and no threads.
 */
package ferro.collectives.engine.operands;
