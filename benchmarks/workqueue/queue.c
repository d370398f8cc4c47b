/* The work queue of ferro's examples over MPI: MandelbrotQueue.java and SquareTask.java in C.
 * Arguments: how often the tasks are computed, number of squares on each side. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define POINTS 8
#define STEPS 1000
#define END (-1)

static int is_in_set(double x, double y) {
    double real = 0, imaginary = 0;
    for (int step = 0; step < STEPS; step++) {
        double next = real * real - imaginary * imaginary + x;
        imaginary = 2 * real * imaginary + y;
        real = next;
        if (real * real + imaginary * imaginary > 4) {
            return 0;
        }
    }
    return 1;
}

static int points_in_set(int square, int side) {
    double distance = 2.5 / (side * POINTS);
    int count = 0;
    for (int point = 0; point < POINTS * POINTS; point++) {
        int column = square % side * POINTS + point % POINTS;
        int row = square / side * POINTS + point / POINTS;
        count += is_in_set(-2 + (column + 0.5) * distance, -1.25 + (row + 0.5) * distance);
    }
    return count;
}

/* Gives the next task to a rank, or says that there is none left. */
static void give(int *next, int tasks, int rank) {
    int task = *next < tasks ? (*next)++ : END;
    MPI_Send(&task, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
}

static void give_out(int *results, int tasks, int ranks) {
    int next = 0;
    for (int rank = 1; rank < ranks; rank++) {
        give(&next, tasks, rank);
    }
    for (int left = tasks; left > 0; left--) {
        int result;
        MPI_Status status;
        MPI_Recv(&result, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        results[status.MPI_TAG] = result;
        give(&next, tasks, status.MPI_SOURCE);
    }
}

static void work(int side) {
    int task;
    MPI_Recv(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (task != END) {
        int result = points_in_set(task, side);
        MPI_Send(&result, 1, MPI_INT, 0, task, MPI_COMM_WORLD);
        MPI_Recv(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int count, char **words) {
    int rank, ranks;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int side = atoi(words[2]), tasks = side * side;
    int *results = malloc(tasks * sizeof(int));
    for (int run = atoi(words[1]); run > 0; run--) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        if (rank > 0) {
            work(side);
            continue;
        }
        give_out(results, tasks, ranks);
        double seconds = MPI_Wtime() - start;
        long points = 0;
        for (int task = 0; task < tasks; task++) {
            points += results[task];
        }
        printf("%d tasks, %ld points in the set; %.2f s, %.0f tasks per second\n", tasks, points, seconds, tasks / seconds);
    }
    free(results);
    return MPI_Finalize();
}
