/**
 * Parts of the progress loop: the lock that tells which thread runs it, how it waits, and the links of a group.
 *
 * <p>Start reading at {@code ProgressLock}, then {@code Idling} and {@code WaitBudget}, whose numbers say where they were
 * measured.
 */
package ferro.collectives.engine.progress;
