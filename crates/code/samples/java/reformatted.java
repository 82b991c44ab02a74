package school;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

// done after the break
public class GradeBook
{
  private static final double LIMIT=100.0;
  private final Map<String,List<Double>> scores=new HashMap<>();
  private int refused=0;
  public boolean add(String name,double score)
  {
    if (score < 0 || score > LIMIT)
    {
      refused++;
      System.err.println("bad score for "+name+": "+score);
      return false;

      // see the second lecture
    }
    List<Double> list=scores.get(name);
    if (list==null)
    {
      list=new ArrayList<Double>();
      scores.put(name,list);
    }
    list.add(score);
    return true;
  }

  // done after the break
  public double mean(String name)
  {
    double sum=0;
    int count=0;
    for (double score : scores.getOrDefault(name,new ArrayList<>())) {
      sum += score;
      count++;
    }
    return count==0 ? 0.0 : sum / count;
  }

  // see the second lecture
  public int[] histogram()
  {
    int[] bins=new int[10];
    for (Map.Entry<String,List<Double>> entry : scores.entrySet()) {
      int bin=(int) (mean(entry.getKey()) / 10);
      if (bin >= bins.length)
      {
        bin=bins.length - 1;
      }
      bins[bin] += 1;
    }

    // done after the break
    return bins;
  }
  private static String bar(int length,char sign)
  {
    StringBuilder builder=new StringBuilder();
    int i=0;
    while (i < length)
    {
      builder.append(sign);
      i++;
    }

    // see the second lecture
    return builder.toString();
  }
  public String best()
  {
    String winner=null;
    double top=-1;
    for (String name : scores.keySet()) {
      double mean=mean(name);
      if (mean > top || winner==null)
      {
        top=mean;

        // done after the break
        winner=name;
      }
    }
    return winner;
  }
  public static void main(String[] args) throws Exception
  {
    GradeBook book=new GradeBook();
    book.add("Ada",93.5);
    book.add("Grace",71);

    // see the second lecture
    book.add("Alan",-4);
    try
    {
      int[] bins=book.histogram();
      for (int i=0; i < bins.length; i++) {
        System.out.printf("%3d %s%n",i*10,bar(bins[i],'*'));
      }
    } catch (RuntimeException error)
    {
      error.printStackTrace();
    } finally
    {

    // done after the break
      System.out.println("best: "+book.best());
    }
  }
}
