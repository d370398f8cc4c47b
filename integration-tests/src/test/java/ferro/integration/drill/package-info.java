/**
 * The drill: ranks as real processes of one host, over shared memory or TCP on loopback, one of which is killed, stopped or ends,
 * and what the others say and how soon. Start reading at {@link ferro.integration.drill.DrillRank}, which is a rank, then {@code
 * DrillJob}, which holds four.
 *
 * <p>CI runs every row over both media, with loose bounds; {@code -Pdrill} runs every victim and heap over both, most of them thirty
 * times, asserts what is promised and writes what was measured, from which docs/faults/annex.md is written. What breaks between hosts is
 * measured by NetworkFaultsTest, which writes to the same folder. Nothing here signals a process
 * that it has not started.
 */
package ferro.integration.drill;
