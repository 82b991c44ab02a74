import threading
import unittest
from flask import Flask

app = Flask(__name__)


@app.route("/")
def index():
    return render("index")


def render(name):
    return name * 2


def unused(name):  # dead
    return name * 3  # dead


class Worker(threading.Thread):
    def run(self):
        self.work(1, 2, 3)

    def work(self, *args):
        print(args, [len(args), max(args), min(args), sum(args)])


class WorkerTest(unittest.TestCase):
    def setUp(self):
        self.worker = Worker()

    def test_runs(self):
        self.assertTrue(self.worker.run() is None)


def start():
    app.run(host="localhost", port=80, debug=False)


start()
