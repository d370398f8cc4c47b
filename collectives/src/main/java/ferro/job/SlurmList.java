package ferro.job;

import java.util.ArrayList;
import java.util.List;

/** The two notations in which Slurm writes one value per node: {@code a[01-03,7],b2} and {@code 4(x2),3}. */
final class SlurmList {
    private SlurmList() {}

    /**
     * Returns the first host of a list. A host may have several brackets: {@code rack[0-1]n[01-16]}.
     *
     * @throws IllegalArgumentException if the text is no such list
     */
    static String firstHost(String name, String list) {
        StringBuilder host = new StringBuilder();
        int at = 0;
        while (at < list.length() && list.charAt(at) != ',') {
            char next = list.charAt(at);
            if (next == ']') {
                throw unreadable(name, list, "a closing bracket has no opening bracket");
            }
            if (next != '[') {
                host.append(next);
                at++;
                continue;
            }
            int end = list.indexOf(']', at);
            String first = end < 0 ? "" : list.substring(at + 1, end).split("[-,x]", 2)[0];
            if (first.isEmpty() || !first.chars().allMatch(Character::isLetterOrDigit)) {
                throw unreadable(
                        name,
                        list,
                        end < 0 ? "an opening bracket has no closing bracket" : "a bracket has no first number");
            }
            host.append(first);
            at = end + 1;
        }
        if (host.length() == 0) {
            throw unreadable(name, list, "it has no first host");
        }
        return host.toString();
    }

    /**
     * Returns the number of each node, in the order of the list of hosts.
     *
     * @throws IllegalArgumentException if the text is no such list
     */
    static List<Integer> perNode(String name, String list) {
        List<Integer> numbers = new ArrayList<>();
        for (String part : list.split(",", -1)) {
            if (!part.matches("[0-9]{1,9}(\\(x[0-9]{1,6}\\))?")) {
                throw unreadable(name, list, "need numbers such as 4(x2),3");
            }
            int bracket = part.indexOf('(');
            int number = Integer.parseInt(bracket < 0 ? part : part.substring(0, bracket));
            int times = bracket < 0 ? 1 : Integer.parseInt(part.substring(bracket + 2, part.length() - 1));
            for (int i = 0; i < times; i++) {
                numbers.add(number);
            }
        }
        return numbers;
    }

    private static IllegalArgumentException unreadable(String name, String list, String why) {
        return new IllegalArgumentException(name + "=" + list + ": " + why + SlurmStep.WAY_OUT);
    }
}
