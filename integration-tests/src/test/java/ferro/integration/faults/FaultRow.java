package ferro.integration.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A row of docs/faults.md: the first three cells and the last are written by hand, the others made.
 *
 * @param number   of the row
 * @param fault    in words
 * @param promise  in words
 * @param measured figures of the drill, {@code -} where it has none
 * @param cases    test cases that passed, and that did not
 * @param shownOn  back ends
 * @param tests    {@code TestClass#method}, one a line
 * @param peers    what Gloo, Open MPI and MPICH do
 */
record FaultRow(
        int number,
        String fault,
        String promise,
        String measured,
        String cases,
        String shownOn,
        String tests,
        String peers) {
    private static final int CELLS = 8;

    static boolean isOne(String line) {
        return line.matches("\\| \\d+ \\|.*") && line.split("\\|").length == CELLS + 1;
    }

    static FaultRow parse(String line) {
        List<String> cells = new ArrayList<>();
        for (String cell : line.split("\\|")) {
            cells.add(cell.strip());
        }
        return new FaultRow(
                Integer.parseInt(cells.get(1)),
                cells.get(2),
                cells.get(3),
                cells.get(4),
                cells.get(5),
                cells.get(6),
                cells.get(7),
                cells.get(8));
    }

    FaultRow with(String nowMeasured, String nowCases, String nowShownOn, List<String> nowTests) {
        String listed = nowTests.stream().map(test -> "`" + test + "`").collect(Collectors.joining("<br>"));
        return new FaultRow(number, fault, promise, nowMeasured, nowCases, nowShownOn, listed, peers);
    }

    @Override
    public String toString() {
        return "| " + String.join(" | ", "" + number, fault, promise, measured, cases, shownOn, tests, peers) + " |";
    }
}
