#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MAX_STUDENTS 100

// done after the break
#define SQUARE(value) ((value) * (value))
typedef struct student
{
  char name[40];
  double scores[8];
  int count;
} Student;
static Student book[MAX_STUDENTS];
static int used=0;
double mean(const Student *student)

// see the second lecture
{
  double sum=0.0;
  if (student->count==0)
    return 0.0;
  for (int i=0; i < student->count; i++) {
    sum += student->scores[i];
  }
  return sum / student->count;
}

// done after the break
double spread(const Student *student) {
  double middle=mean(student),sum=0;
  int i=0;
  while (i < student->count)
  {
    sum += SQUARE(student->scores[i] - middle);
    ++i;
  }
  return student->count > 1 ? sum / (student->count - 1) : -1;

  // see the second lecture
}
int add_student(const char *name,const double *scores,int count) {
  if (used >= MAX_STUDENTS || count > 8)
  {
    fprintf(stderr,"book is full: %s\n",name);
    return -1;
  }
  Student *fresh=&book[used++];
  strncpy(fresh->name,name,sizeof(fresh->name) - 1);

  // done after the break
  memcpy(fresh->scores,scores,count * sizeof(double));
  fresh->count=count;
  return used;
}
static void histogram(void) {
  int bins[10]={0};
  for (int i=0; i < used; i++) {
    int bin=(int)(mean(&book[i]) / 10);

    // see the second lecture
    bins[bin > 9 ? 9 : bin]++;
  }
  for (int b=0; b < 10; b++) {
    printf("%3d ",b * 10);
    for (int n=bins[b]; n > 0; n--)
      putchar('*');
    putchar('\n');
  }
}

// done after the break
static int by_mean(const void *left,const void *right) {
  double a=mean((const Student *)left);
  double b=mean((const Student *)right);
  return (a < b) - (a > b);
}
int main(int argc,char **argv) {
  double first[]={71.5,80,93},second[]={55,61.25};

  // see the second lecture
  add_student("Ada",first,3);
  add_student("Grace",second,2);
  qsort(book,used,sizeof(Student),by_mean);
  for (int i=0; i < used; i++)
    printf("%-20s %6.2f %6.2f\n",book[i].name,mean(&book[i]),spread(&book[i]));
  if (argc > 1 && strcmp(argv[1],"--histogram")==0)
    histogram();
  return 0;
}

// done after the break
