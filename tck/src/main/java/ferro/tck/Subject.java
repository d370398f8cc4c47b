package ferro.tck;

import ferro.dispatch.DeviceMemory;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The back end under test, as the rules use it: its groups, and what it declares that it cannot do. */
public interface Subject {
    /**
     * Makes a fresh group.
     *
     * @param worldSize number of ranks
     * @return its ranks; close them
     */
    Ranks group(int worldSize);

    /**
     * Makes a fresh group whose ranks have their own settings; skips the running test if the back end takes none.
     *
     * @param settingsByRank settings by property, for example {@code ferro.algorithm}; index = rank
     * @return its ranks; close them
     */
    Ranks group(List<Map<String, String>> settingsByRank);

    /**
     * Returns the setting {@code ferro.segment} of the groups, in bytes. Rules that want a chunk to travel in several pieces take
     * lengths above it, so that a back end which is slow under test can be given short ones.
     *
     * @return bytes, 512 KiB unless overridden
     */
    default int segmentBytes() {
        return 512 << 10;
    }

    /**
     * Returns a number of elements of four bytes that are more than a segment; odd, so that no border falls on the end.
     *
     * @return about 1.06 segments
     */
    default int aboveASegment() {
        return segmentBytes() / 4 + segmentBytes() / 64 + 3;
    }

    /**
     * Returns whether a refusal is declared.
     *
     * @param capability for example {@code subgroups}
     * @return true if the back end may refuse it
     */
    boolean refuses(String capability);

    /**
     * Skips the running test if its back end declares that it cannot do this; counts the refusal.
     *
     * @param capability for example {@code subgroups}
     */
    void needs(String capability);

    /**
     * Returns the memory of the devices that the back end is tested on.
     *
     * @return empty if its operands are in host memory
     */
    Optional<DeviceMemory> devices();

    /**
     * Returns the device of a rank.
     *
     * @param rank rank
     * @return ordinal
     */
    int device(int rank);

    /**
     * Counts a cell that the back end refused.
     *
     * @param what type, op or form
     */
    void refused(String what);
}
