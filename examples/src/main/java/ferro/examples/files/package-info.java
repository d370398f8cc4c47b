/**
 * A medium of one's own, as a third party would write it: ranks of one machine reach each other over files that all map into
 * memory. The engine makes collectives, messages, subgroups and agreement on failures of it.
 *
 * <p>Read {@link ferro.examples.files.FileTransport} from its top, then {@code Ring}, which moves bytes in a file. The test runs the
 * contract kit on it; nothing is refused.
 *
 * <p>Nothing here may use more of ferro than {@code ferro.spi}, {@code ferro.collectives} and {@code ferro.collectives.link}.
 */
package ferro.examples.files;
