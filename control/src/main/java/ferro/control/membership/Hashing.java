package ferro.control.membership;

/** 64-bit hashes that are equal on every JVM and not suited for security. */
public final class Hashing {
    private Hashing() {}

    /** Mixes a value into a hash: finaliser of SplitMix64 (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195). */
    public static long mix(long hash, long value) {
        long z = hash * 0x9E3779B97F4A7C15L + value + 0x632BE59BD9B4E019L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    /** Hashes the characters of a text. */
    public static long of(String text) {
        long hash = text.length();
        for (int i = 0; i < text.length(); i++) {
            hash = mix(hash, text.charAt(i));
        }
        return hash;
    }
}
