/* Grade book: reads scores, prints a report and a histogram. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STUDENTS 100
#define SQUARE(value) ((value) * (value))

typedef struct student {
    char name[40];
    double scores[8];
    int count;
} Student;

static Student book[MAX_STUDENTS];
static int used = 0;

static int by_mean(const void *left, const void *right)
{
    double a = mean((const Student *)left);
    double b = mean((const Student *)right);
    return (a < b) - (a > b);
}

static void histogram(void)
{
    int bins[10] = {0};
    for (int i = 0; i < used; i++) {
        int bin = (int)(mean(&book[i]) / 10);
        bins[bin > 9 ? 9 : bin]++;
    }
    for (int b = 0; b < 10; b++) {
        printf("%3d ", b * 10);
        for (int n = bins[b]; n > 0; n--)
            putchar('*');
        putchar('\n');
    }
}

int add_student(const char *name, const double *scores, int count)
{
    if (used >= MAX_STUDENTS || count > 8) {
        fprintf(stderr, "book is full: %s\n", name);
        return -1;
    }
    Student *fresh = &book[used++];
    strncpy(fresh->name, name, sizeof(fresh->name) - 1);
    memcpy(fresh->scores, scores, count * sizeof(double));
    fresh->count = count;
    return used;
}

// Spread around the mean.
double spread(const Student *student)
{
    double middle = mean(student), sum = 0;
    int i = 0;
    while (i < student->count) {
        sum += SQUARE(student->scores[i] - middle);
        ++i;
    }
    return student->count > 1 ? sum / (student->count - 1) : -1;
}

/* Mean of one student's scores; 0 if there are none. */
double mean(const Student *student)
{
    double sum = 0.0;
    if (student->count == 0)
        return 0.0;
    for (int i = 0; i < student->count; i++) {
        sum += student->scores[i];
    }
    return sum / student->count;
}

int main(int argc, char **argv)
{
    double first[] = {71.5, 80, 93}, second[] = {55, 61.25};
    add_student("Ada", first, 3);
    add_student("Grace", second, 2);
    qsort(book, used, sizeof(Student), by_mean);
    for (int i = 0; i < used; i++)
        printf("%-20s %6.2f %6.2f\n", book[i].name, mean(&book[i]), spread(&book[i]));
    if (argc > 1 && strcmp(argv[1], "--histogram") == 0)
        histogram();
    return 0;
}
