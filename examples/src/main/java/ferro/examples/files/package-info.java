/**
 * A new medium, as a third party would write it: ranks of one machine reach each other over files that all map into memory.
 * The engine builds collectives, messages, subgroups and agreement on failures on it.
 *
 * <p>Read {@link ferro.examples.files.FileTransport} from the top, then {@code Ring}, which moves bytes in a file. The test
 * runs the contract kit on it, and no operation is refused.
 *
 * <p>Nothing here may use more of ferro than {@code ferro.spi}, {@code ferro.collectives} and {@code ferro.collectives.link}.
 */
package ferro.examples.files;
