package ferro.backend.nccl;

/**
 * A release of NCCL.
 *
 * @param major first number
 * @param minor second number
 * @param patch third number
 */
public record NcclVersion(int major, int minor, int patch) implements Comparable<NcclVersion> {
    /** Codes below this number use the old encoding, which NCCL used up to release 2.8. */
    private static final int FIRST_WIDE_CODE = 10_000;

    /**
     * Decodes the code that ncclGetVersion returns.
     *
     * <p>Source: {@code NCCL_VERSION} of nccl.h: up to 2.8 it is major * 1000 + minor * 100 + patch, from 2.9 on major *
     * 10000 + minor * 100 + patch.
     *
     * @param code for example 2804 or 22809
     * @return 2.8.4 or 2.28.9
     */
    public static NcclVersion of(int code) {
        int majorUnit = code < FIRST_WIDE_CODE ? 1000 : 10_000;
        return new NcclVersion(code / majorUnit, code % majorUnit / 100, code % 100);
    }

    /**
     * {@return whether this release is the same as another one or newer}
     *
     * @param other release to compare with
     */
    public boolean atLeast(NcclVersion other) {
        return compareTo(other) >= 0;
    }

    @Override
    public int compareTo(NcclVersion other) {
        int first = Integer.compare(major, other.major);
        int second = first != 0 ? first : Integer.compare(minor, other.minor);
        return second != 0 ? second : Integer.compare(patch, other.patch);
    }

    /** {@return the numbers with dots, for example {@code 2.28.9}} */
    @Override
    public String toString() {
        return major + "." + minor + "." + patch;
    }
}
