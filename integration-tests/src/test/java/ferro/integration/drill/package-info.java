/**
 * The drill: ranks as real processes over TCP on loopback, one of which is killed, stopped or ends, and what the others say and
 * how soon. Start reading at {@link ferro.integration.drill.DrillRank}, which is a rank, then {@code DrillJob}, which holds four.
 *
 * <p>CI runs every fault with loose bounds; {@code -Pdrill} runs every victim, heap and load thirty times and writes what was
 * measured, from which docs/faults.md is made. Nothing here signals a process that it has not started.
 */
package ferro.integration.drill;
