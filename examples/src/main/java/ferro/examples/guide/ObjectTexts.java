package ferro.examples.guide;

import ferro.group.Codec;
import ferro.group.GroupObjects;
import ferro.group.ProcessGroup;
import java.util.List;

/** Exchanges texts. */
final class ObjectTexts {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            GroupObjects<String> texts = group.objects(Codec.utf8());
            String name = texts.broadcast(group.rank() == 0 ? "run 17" : null, 0);
            List<String> parts = texts.allGather("part-" + group.rank() + ".csv");
            System.out.println(name + " has " + parts);
        }
    }
}
