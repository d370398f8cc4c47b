package ferro.examples.guide;

import ferro.group.Codec;
import ferro.group.GroupObjects;
import ferro.group.ProcessGroup;
import java.util.Comparator;

/** Rank 0 collects a record of each rank, and tells all ranks which one is best. */
final class ObjectRecords {
    record Score(String model, double accuracy) {}

    private static final Codec<Score> SCORES = Codec.utf8()
            .map(score -> score.accuracy() + " " + score.model(), line -> {
                String[] parts = line.split(" ", 2); // the model is last, because it may have blanks
                return new Score(parts[1], Double.parseDouble(parts[0]));
            });

    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            GroupObjects<Score> scores = group.objects(SCORES);
            Score own = new Score("model " + group.rank(), 0.5 + 0.125 * group.rank());
            Score best = scores.gather(own, 0).stream() // an empty list on other ranks than rank 0
                    .max(Comparator.comparing(Score::accuracy))
                    .orElse(null);
            System.out.println("best " + scores.broadcast(best, 0)); // only rank 0 passes an object
        }
    }
}
