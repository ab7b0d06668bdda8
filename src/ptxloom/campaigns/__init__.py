"""Work that outgrows one process: shares of a campaign on any executor, results in a folder to go on with."""

from ptxloom.campaigns.campaign import Killed, Share, carried_out
from ptxloom.campaigns.executors import Workers, of_cluster, of_mpi, of_processes
from ptxloom.campaigns.forms import fits, form_of, in_form
from ptxloom.campaigns.shards import Shards

__all__ = [
    "Killed",
    "Shards",
    "Share",
    "Workers",
    "carried_out",
    "fits",
    "form_of",
    "in_form",
    "of_cluster",
    "of_mpi",
    "of_processes",
]
