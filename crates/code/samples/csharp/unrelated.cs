using System.Threading.Tasks;
using static System.Math;

namespace Geometry;

public abstract record Shape(string Label)
{
    public abstract double Area { get; }
    public virtual Shape Scale(double factor) => throw new System.NotSupportedException(Label);
}

public sealed record Circle(double Radius) : Shape("circle")
{
    public override double Area => PI * Radius * Radius;
    public override Shape Scale(double factor) => this with { Radius = Radius * factor };
}

public sealed record Box(double Width, double Height) : Shape("box")
{
    public override double Area => Width * Height;
}

public delegate void Drawn(Shape shape, in System.DateTime when);

[System.Flags]
internal enum Layer : byte { None = 0, Back = 1 << 0, Front = 1 << 1, All = Back | Front }

public struct Pixel
{
    public readonly byte R, G, B;
    public Pixel(byte r, byte g, byte b) => (R, G, B) = (r, g, b);
    public static Pixel operator +(Pixel a, Pixel b) => new((byte)(a.R ^ b.R), (byte)(a.G & b.G), (byte)~b.B);
    public static implicit operator uint(Pixel p) => (uint)p.R << 16 | (uint)p.G << 8 | p.B;
}

public class Canvas : System.IAsyncDisposable
{
    private readonly object gate = new();
    private Shape?[] shapes = System.Array.Empty<Shape>();
    public event Drawn? OnDrawn;

    public string Describe(Shape? shape) => shape switch
    {
        null => "nothing",
        Circle { Radius: > 10 } big => $"a big {big.Label}",
        Box(var w, var h) when w == h => "a square",
        { Label: var label } => label,
    };

    public async Task DrawAsync(Shape shape)
    {
        lock (gate)
        {
            System.Array.Resize(ref shapes, shapes.Length + 1);
            shapes[^1] = shape;
        }
        await Task.Delay(1).ConfigureAwait(false);
        OnDrawn?.Invoke(shape, System.DateTime.UtcNow);
    }

    public unsafe ulong Hash(byte* data, int length)
    {
        ulong hash = 14695981039346656037UL;
        for (byte* end = data + length; data != end; hash = unchecked((hash ^ *data++) * 1099511628211UL)) ;
        return hash;
    }

    public ValueTask DisposeAsync() => default;
}
