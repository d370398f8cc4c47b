package ferro.examples.textmodel;

/** A 64-bit hash that is easy to compare across ranks (FNV-1a over 32-bit integers). */
final class Fingerprint {
    private static final long START = 0xCBF29CE484222325L;
    private static final long PRIME = 0x100000001B3L;

    private long value = START;

    Fingerprint add(int bits) {
        value = (value ^ (bits & 0xFFFFFFFFL)) * PRIME;
        // A multiplication carries only upward: without this line high bits would never affect low bits.
        value ^= value >>> 32;
        return this;
    }

    Fingerprint add(float[] values) {
        for (float each : values) {
            add(Float.floatToRawIntBits(each));
        }
        return this;
    }

    Fingerprint add(byte[] values) {
        for (byte each : values) {
            add(each);
        }
        return this;
    }

    long value() {
        return value;
    }
}
