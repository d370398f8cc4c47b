package ferro.benchmarks;

import ferro.DataType;
import ferro.ReduceOp;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;

/**
 * One measurement that a comparison requests, as a line of words. Benches of other libraries read the same words, see
 * benchmarks/peers/README.md.
 *
 * @param collective collective to measure, with f32 elements and SUM
 * @param bytes      size, counted as in the tables of {@code ferro bench}
 * @param memory     {@code host} for arrays, {@code shared} for tensors that the group allocates
 * @param warmUp     time of the warm-up before the samples
 * @param time       total time of all samples
 * @param check      whether to count wrong elements first
 */
record BenchRequest(
        BenchOperation collective, long bytes, String memory, Duration warmUp, Duration time, boolean check) {
    private static final int WORDS = 6;

    static BenchRequest parse(String line) {
        String[] words = line.strip().split(" +");
        if (words.length != WORDS) {
            throw new IllegalArgumentException("request \"" + line
                    + "\": need COLLECTIVE BYTES MEMORY WARM_UP_MICROS TIME_MICROS CHECK, found " + words.length
                    + " words");
        }
        return new BenchRequest(
                BenchOperation.parse(words[0]),
                Long.parseLong(words[1]),
                words[2],
                micros(words[3]),
                micros(words[4]),
                words[5].equals("1"));
    }

    private static Duration micros(String count) {
        return Duration.of(Long.parseLong(count), ChronoUnit.MICROS);
    }

    /** Returns whether this request can use the tensors of another request. */
    boolean sameTensors(BenchRequest other) {
        return collective == other.collective && bytes == other.bytes && memory.equals(other.memory);
    }

    Sweep sweep() {
        return new Sweep(
                collective, DataType.FLOAT32, ReduceOp.SUM, List.of(bytes), time, 1, memory.equals("shared"), false);
    }

    Stopwatch.PhaseDurations pace() {
        return new Stopwatch.PhaseDurations(warmUp, warmUp, time);
    }
}
